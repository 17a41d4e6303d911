import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { simulatedLabelers } from '../../harness/archive/simulated-hours.ts';
import { at } from '../../harness/archive/tabled-archive.ts';
import { hasPostgres, startPostgres } from '../../harness/postgres/server.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { tables } from '../../src/archive/tables/columns.ts';

/**
 * The first command that a reader types gives the right number. The archive has hours and a labeler that were not
 * observed, which no tool may take for zero.
 */

const run = promisify(execFile);
const docs = readFileSync(join(root, 'docs/archive.md'), 'utf8');
const day = '2026-11-20';
const unseen = simulatedLabelers[1];
/** Two gaps that begin in the same second. */
const brief = [5_200, 5_700].map((ms) => ({ start: at(0, 10) + ms, end: at(0, 10) + ms + 4 }));
const faults = {
  weather: [
    { start: at(0, 6, 30), end: at(0, 9) },
    { start: at(0, 12), end: at(0, 13), collection: 'like.create' },
    ...brief,
  ],
  labels: [
    { start: at(0, 5), end: at(0, 9) },
    { start: at(0, 0), end: at(1, 0), labeler: unseen },
    ...brief.map((gap) => ({ ...gap, labeler: simulatedLabelers[0] })),
  ],
};
const folder = mkdtempSync(join(tmpdir(), 'almanac-first-'));

beforeAll(async () => {
  const served = join(folder, 'served');
  const write = (path: string, bytes: Buffer): void => {
    mkdirSync(dirname(join(served, path)), { recursive: true });
    writeFileSync(join(served, path), bytes);
  };
  writeClosedArchive({ before: at(2, 0), days: 2, faults, write });
  await run('python3', [join(root, 'examples/archive_month.py'), String(pathToFileURL(served)), '2026-11', folder]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const dayFolder = join(folder, 'days', day);

/** Returns the rows of a table of the month, as objects of text. */
function rowsOf(name: string, from = folder): Record<string, string>[] {
  const [header = '', ...lines] = readFileSync(join(from, `${name}.csv`), 'utf8')
    .trimEnd()
    .split('\n');
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, place) => [names[place], cell])));
}

function meanOf(rows: readonly Record<string, string>[], name: string): number {
  return rows.reduce((sum, row) => sum + Number(row[name]), 0) / rows.length;
}

/** Returns true if a program is missing and its test must be skipped. In CI, a missing program is a failure. */
function isMissing(name: string): boolean {
  const isFound = (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, name)));
  return !isFound && process.env.CI === undefined;
}

async function query(sql: string, from = folder): Promise<unknown[][]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    return (await connection.runAndReadAll(sql.replaceAll("'labels", `'${from}/labels`))).getRowsJson();
  } finally {
    connection.closeSync();
  }
}

/** Returns the lines of the documentation that print the mean and need no packages. */
function commands(): string[] {
  const section = docs.split('\n### First commands\n')[1]?.split('\n### ')[0] ?? '';
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  return (blocks[0] ?? '').trim().split('\n');
}

async function printed(command: string): Promise<number> {
  const sql = /^duckdb .*-c "(.*)"$/.exec(command)?.[1];
  if (sql !== undefined) return Number((await query(sql, dayFolder))[0]?.[0]);
  // gnuplot prints to the error output.
  const { stdout, stderr } = await run('sh', ['-euc', command], { cwd: dayFolder });
  return Number(stdout.trim() || stderr.trim());
}

describe('a first command of the documentation', () => {
  it.each(commands())('prints the mean of the observed hours: %s', async (command) => {
    const [program = ''] = command.split(' ');
    if (program !== 'duckdb' && isMissing(program)) return;
    expect(await printed(command)).toBeCloseTo(2_821.5, 3);
    expect(meanOf(rowsOf('labels-totals', dayFolder), 'applications')).toBe(2_821.5);
  });

  it('finds no labeler that was not observed, and every hour that has no row in the gaps', () => {
    expect(rowsOf('labels-labelers', dayFolder).map((row) => row.labeler_did)).toEqual([simulatedLabelers[0]]);
    const gaps = rowsOf('labels-gaps', dayFolder).filter(({ scope }) => scope === 'all');
    expect(gaps.map(({ start, end, seconds }) => [start, end, seconds])).toEqual([
      [`${day}T05:00:00Z`, `${day}T09:00:00Z`, '14400'],
    ]);
    expect(rowsOf('labels-gaps', dayFolder)).toContainEqual(
      expect.objectContaining({ scope: unseen, seconds: '86400' }),
    );
  });

  it('counts each event once if a table is added up', () => {
    const sum = (name: string) => rowsOf(name, dayFolder).reduce((total, row) => total + Number(row.events), 0);
    expect(sum('weather-totals')).toBe(13_846);
    expect(rowsOf('weather-totals', dayFolder)).toHaveLength(22);
  });
});

describe('the time zone of the reader', () => {
  const sql = (
    file: string,
  ) => `SELECT CAST(day AS VARCHAR) AS day, count(*) AS hours, CAST(sum(events) AS BIGINT) AS events,
    CAST(min(epoch(hour)) AS BIGINT) AS first, CAST(max(epoch(hour)) AS BIGINT) AS last
    FROM '${file}' WHERE day = '2026-11-21' OR day = '2026-11-20' GROUP BY day ORDER BY day`;
  const program = (file: string) => `const { DuckDBInstance } = require('@duckdb/node-api');
    (async () => {
      const connection = await (await DuckDBInstance.create(':memory:')).connect();
      console.log(JSON.stringify((await connection.runAndReadAll(${JSON.stringify(sql(file))})).getRowsJson()));
    })();`;

  it.each(['America/Los_Angeles', 'UTC', 'Asia/Tokyo'])('%s changes no day of the CSV or Parquet files', (zone) => {
    const answers = ['weather-totals.csv', 'weather-totals.parquet'].map((name) => {
      const text = execFileSync(process.execPath, ['-e', program(join(folder, 'days/*', name))], {
        ...{ cwd: root, encoding: 'utf8', env: { ...process.env, TZ: zone } },
      });
      return JSON.parse(text) as unknown;
    });
    const start = at(0, 0) / 1000;
    const events = ['2026-11-20', '2026-11-21'].map((one) =>
      String(rowsOf('weather-totals').reduce((sum, row) => sum + (row.day === one ? Number(row.events) : 0), 0)),
    );
    const expected = [
      ['2026-11-20', '22', events[0], String(start), String(start + 23 * 3600)],
      ['2026-11-21', '24', events[1], String(start + 24 * 3600), String(start + 47 * 3600)],
    ];
    expect(answers).toEqual([expected, expected]);
  });
});

describe('a program in examples/archive', () => {
  const program = (name: string) => join(root, 'examples/archive', name);
  const means = () =>
    ['2026-11-20', '2026-11-21'].map((one) =>
      meanOf(
        rowsOf('labels-totals').filter((row) => row.day === one),
        'applications',
      ),
    );

  it.skipIf(isMissing('sqlite3'))('loads the tables into SQLite', async () => {
    const own = folderInTest();
    for (const { name } of tables) copyFileSync(join(folder, `${name}.csv`), join(own, `${name}.csv`));
    await run('sh', ['-euc', `sqlite3 -bail archive.db < ${program('sqlite.sql')}`], { cwd: own });
    const { stdout } = await run('sqlite3', [
      join(own, 'archive.db'),
      'SELECT avg(applications), typeof(max(applications)) FROM labels_totals GROUP BY day',
    ]);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => [Number(line.split('|')[0]).toFixed(3), line.split('|')[1]]),
    ).toEqual(means().map((mean) => [mean.toFixed(3), 'integer']));
    for (const { name } of tables) {
      const { stdout: count } = await run('sqlite3', [
        join(own, 'archive.db'),
        `SELECT count(*) FROM ${name.replaceAll('-', '_')}`,
      ]);
      expect(Number(count), name).toBe(rowsOf(name).length);
    }
  });

  it('loads the tables into DuckDB', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    onTestFinished(() => connection.closeSync());
    const script = readFileSync(program('duckdb.sql'), 'utf8').replaceAll(/FROM '/g, `FROM '${folder}/`);
    await connection.run(script);
    const rows = await connection.runAndReadAll(
      'SELECT avg(applications) FROM labels_totals GROUP BY day ORDER BY day',
    );
    expect(rows.getRowsJson().map(([mean]) => Number(mean))).toEqual(means());
    for (const { name } of tables) {
      const count = await connection.runAndReadAll(`SELECT count(*) FROM ${name.replaceAll('-', '_')}`);
      expect(Number(count.getRowsJson()[0]?.[0]), name).toBe(rowsOf(name).length);
    }
  });

  it.skipIf(!hasPostgres())('loads the tables into PostgreSQL', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { host, port, user, database } = server.client;
    const psql = (...args: string[]) =>
      run(
        'psql',
        ['-h', host, '-p', String(port), '-U', user, '-d', database, '-At', '--set', 'ON_ERROR_STOP=1', ...args],
        {
          cwd: folder,
        },
      );
    await psql('--file', program('postgresql.sql'));
    const { stdout } = await psql(
      '-c',
      'SELECT avg(applications)::float8 FROM labels_totals GROUP BY day ORDER BY day',
    );
    expect(stdout.trim().split('\n').map(Number)).toEqual(means());
    for (const { name } of tables) {
      const { stdout: count } = await psql('-c', `SELECT count(*) FROM ${name.replaceAll('-', '_')}`);
      expect(Number(count), name).toBe(rowsOf(name).length);
    }
  });

  it('reads the tables with Python alone', async () => {
    const { stdout } = await run('python3', [program('load.py'), folder]);
    expect(stdout).toBe(
      `2026-11-20: 2821.5 applications an hour in 20 observed hours; 4.00 hours not observed\n2026-11-21: ${means()[1]?.toFixed(1)} applications an hour in 24 observed hours; 0.00 hours not observed\n`,
    );
  });

  it('prints the hours of a day without a row with Python alone', async () => {
    const from = folderInTest();
    for (const name of ['datapackage.json', ...tables.map((table) => `${table.name}.csv`)])
      copyFileSync(join(folder, name), join(from, name));
    const lines = readFileSync(join(folder, 'labels-totals.csv'), 'utf8').split('\n');
    writeFileSync(join(from, 'labels-totals.csv'), lines.filter((line) => !line.startsWith(day)).join('\n'));
    const { stdout } = await run('python3', [program('load.py'), from]);
    expect(stdout.split('\n')[0]).toBe(`${day}: no hour in labels-totals; 4.00 hours not observed`);
  });
});

describe('datapackage.json', () => {
  it('describes each CSV file of its directory with the columns in order, no empty cells, and keys without repeats, except for gaps', () => {
    for (const from of [folder, dayFolder]) {
      const { resources } = JSON.parse(readFileSync(join(from, 'datapackage.json'), 'utf8')) as {
        resources: {
          name: string;
          path: string;
          gaps?: string;
          schema: { fields: { name: string }[]; primaryKey?: string[] };
        }[];
      };
      expect(resources.map(({ name }) => name)).toEqual(tables.map(({ name }) => name));
      for (const { path, gaps, schema } of resources) {
        const name = basename(path, '.csv');
        const [header = ''] = readFileSync(join(from, path), 'utf8').split('\n');
        expect(schema.fields.map((field) => field.name)).toEqual(header.split(','));
        const columns = schema.primaryKey;
        const keys = rowsOf(name, from).map((row) => columns?.map((one) => row[one]).join(' '));
        const isOfGaps = name.endsWith('-gaps');
        // The record of a closed day covers this file, so that its bytes stay. The file of a month states no such key.
        expect(columns === undefined, name).toBe(isOfGaps && from === folder);
        if (columns) expect(keys.length - new Set(keys).size, name).toBe(isOfGaps ? 1 : 0);
        if (gaps !== undefined) expect(existsSync(join(from, `${gaps}.csv`))).toBe(true);
      }
    }
  });
});

describe('csv-metadata.json', () => {
  it('describes each CSV file of a month with the columns in order', () => {
    const { tables: described } = JSON.parse(readFileSync(join(folder, 'csv-metadata.json'), 'utf8')) as {
      tables: {
        url: string;
        tableSchema: { columns: { name: string; required: boolean }[]; primaryKey?: string[] };
      }[];
    };
    expect(described.map(({ url }) => url)).toEqual(tables.map(({ name }) => `${name}.csv`));
    const gaps = described.filter(({ tableSchema }) => tableSchema.primaryKey === undefined);
    expect(gaps.map(({ url }) => url)).toEqual(['weather-gaps.csv', 'labels-gaps.csv']);
    for (const { url, tableSchema } of described) {
      const [header = ''] = readFileSync(join(folder, url), 'utf8').split('\n');
      expect(tableSchema.columns.map(({ name }) => name)).toEqual(header.split(','));
      expect(tableSchema.columns.every(({ required }) => required)).toBe(true);
    }
  });
});
