import { labelsGaps, tables, weatherGaps } from '../../src/archive/tables/columns.ts';
import type { CellKind, Table } from '../../src/archive/tables/table.ts';

/** Programs in `examples/archive` that load the tables of a month into a database with types, and with keys of all tables but those of gaps. */

type Types = Readonly<Record<CellKind, string>>;

const sqlite: Types = {
  ...{ day: 'TEXT', hour: 'TEXT', instant: 'TEXT', text: 'TEXT', count: 'INTEGER', seconds: 'REAL', rate: 'REAL' },
  flag: 'INTEGER',
};
const standard: Types = {
  ...{ day: 'DATE', hour: 'TIMESTAMPTZ', instant: 'TIMESTAMPTZ', text: 'VARCHAR', count: 'BIGINT' },
  ...{ seconds: 'DOUBLE PRECISION', rate: 'DOUBLE PRECISION', flag: 'BOOLEAN' },
};
const clickhouse: Types = {
  ...{ day: 'Date', hour: "DateTime('UTC')", instant: "DateTime('UTC')", text: 'LowCardinality(String)' },
  ...{ count: 'UInt64', seconds: 'Float64', rate: 'Float64', flag: 'Bool' },
};

/** Returns the name of a table in a database. */
function named({ name }: Table): string {
  return name.replaceAll('-', '_');
}

function columnsOf({ columns }: Table, types: Types, suffix: string): string {
  return columns.map(({ name, kind }) => `  ${quoted(name)} ${types[kind]}${suffix}`).join(',\n');
}

/** Returns a column name, quoted if it is a keyword of SQL. */
function quoted(name: string): string {
  return name === 'end' ? '"end"' : name;
}

function head(comment: string, usage: string): string {
  return `-- Loads the tables that archive_month.py downloaded into ${comment}. In their directory:
--   ${usage}
-- A row exists only for what was observed: weather_gaps and labels_gaps state the rest. All times are UTC.
`;
}

function created(table: Table, types: Types): string {
  // The times of a gap are rounded to seconds, so that two gaps of a scope may have the same start.
  const isOfGaps = table === weatherGaps || table === labelsGaps;
  const key = isOfGaps ? '' : `,\n  PRIMARY KEY (${table.key.map(quoted).join(', ')})`;
  return `CREATE TABLE ${named(table)} (\n${columnsOf(table, types, ' NOT NULL')}${key}\n)`;
}

function sqliteLoader(): string {
  const each = tables.map((table) => {
    return `${created(table, sqlite)};\n.import --csv --skip 1 ${table.name}.csv ${named(table)}\n`;
  });
  return `${head('SQLite', 'sqlite3 archive.db < examples/archive/sqlite.sql')}\n${each.join('\n')}`;
}

function duckdbLoader(): string {
  const each = tables.map((table) => {
    return `${created(table, standard)};\nCOPY ${named(table)} FROM '${table.name}.csv' (HEADER);\n`;
  });
  const first = "SET TimeZone = 'UTC';\n";
  return `${head('DuckDB', 'duckdb archive.duckdb < examples/archive/duckdb.sql')}\n${first}\n${each.join('\n')}`;
}

function postgresLoader(): string {
  const each = tables.map((table) => {
    return `${created(table, standard)};\n\\copy ${named(table)} FROM '${table.name}.csv' (FORMAT csv, HEADER)\n`;
  });
  const first = "SET TimeZone TO 'UTC';\n";
  const usage = 'psql --set ON_ERROR_STOP=1 --file examples/archive/postgresql.sql';
  return `${head('PostgreSQL', usage)}\n${first}\n${each.join('\n')}`;
}

function clickhouseLoader(): string {
  const each = tables.map((table) => {
    const key = table.key.map(quoted).join(', ');
    const columns = columnsOf(table, clickhouse, '');
    return `CREATE TABLE ${named(table)} (\n${columns}\n) ENGINE = MergeTree ORDER BY (${key});
INSERT INTO ${named(table)} FROM INFILE '${table.name}.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;\n`;
  });
  return `${head('ClickHouse', 'clickhouse client --queries-file examples/archive/clickhouse.sql')}\n${each.join('\n')}`;
}

/** Returns the content of each generated program by its path. */
export function archiveLoaders(): Readonly<Record<string, string>> {
  return {
    'examples/archive/sqlite.sql': sqliteLoader(),
    'examples/archive/duckdb.sql': duckdbLoader(),
    'examples/archive/postgresql.sql': postgresLoader(),
    'examples/archive/clickhouse.sql': clickhouseLoader(),
  };
}
