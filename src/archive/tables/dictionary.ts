import { isDay } from '../days/calendar.ts';
import { parsedObject } from '../days/records.ts';
import { tables } from './columns.ts';
import { currentEdition } from './editions.ts';
import { firstEdition } from './first-edition.ts';
import { type Cell, type CellKind, type Column, type Table, tableFormats } from './table.ts';

/** Name of the data dictionary in the directory of an archive. */
export const dictionaryFile = 'tables.json';
/**
 * Formats the data dictionary: each column with its unit and clock, and a JSON Schema of the rows of each table. `since`
 * is the first day with these tables; the records of earlier days list the tables of the first edition.
 */
export function formatDictionary(since: string): Buffer {
  const dictionary = {
    schema: currentEdition.schema,
    licence: 'CC0-1.0',
    formats: tableFormats,
    since,
    rows: 'A row exists only for what was observed. A missing row is not zero: the table of gaps states the reason.',
    tables: tables.map(tableEntry),
    earlier: {
      schema: firstEdition.schema,
      null_means: 'not observed, or not known to the archive; never zero. An empty cell of CSV is null.',
      tables: firstEdition.tables.map(tableEntry),
    },
  };
  return Buffer.from(`${JSON.stringify(dictionary, null, 1)}\n`);
}

/** Returns the first day with the current tables that a dictionary states; null if it is not a current dictionary. */
export function sinceIn(bytes: Uint8Array): string | null {
  const { schema, since } = parsedObject(bytes) ?? {};
  return schema === currentEdition.schema && typeof since === 'string' && isDay(since) ? since : null;
}

function tableEntry(table: Table) {
  return {
    name: table.name,
    description: table.description,
    ...(table.gaps === null ? {} : { gaps: table.gaps }),
    key: table.key,
    columns: table.columns.map(({ name, kind, isNullable, unit, clock, description }) => {
      return { name, type: kind, nullable: isNullable, unit, clock, description };
    }),
    row_schema: rowSchema(table),
  };
}

/** Returns the JSON Schema of a row, given as an object with one property for each column. */
export function rowSchema({ name, columns }: Table): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    type: 'object',
    required: columns.map((column) => column.name),
    additionalProperties: false,
    properties: Object.fromEntries(columns.map((column) => [column.name, cellSchema(column)])),
  };
}

const kinds = {
  hour: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:00:00Z$' },
  instant: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' },
  day: { type: 'string', format: 'date' },
  text: { type: 'string', minLength: 1 },
  count: { type: 'integer', minimum: 0 },
  seconds: { type: 'number', minimum: 0 },
  rate: { type: 'number', minimum: 0 },
  flag: { type: 'boolean' },
} as const;

function cellSchema({ kind, values, isNullable, description }: Column): object {
  const schema = { ...kinds[kind], ...(values ? { enum: values } : {}) };
  return isNullable ? { anyOf: [schema, { type: 'null' }], description } : { ...schema, description };
}

const types: Readonly<Record<CellKind, string>> = {
  hour: 'datetime',
  day: 'date',
  instant: 'datetime',
  text: 'string',
  count: 'integer',
  seconds: 'number',
  rate: 'number',
  flag: 'boolean',
};

/**
 * Returns the Data Package (Frictionless, version 1) of the tables of a day: each CSV file with its columns, units and
 * key, and the table that states its gaps.
 */
export function dayPackage(day: string): Readonly<Record<string, unknown>> {
  return {
    name: `almanac-${day}`,
    title: `Observations of the AT Protocol network on ${day}, in UTC`,
    licenses: [{ name: 'CC0-1.0' }],
    resources: tables.map(resource),
  };
}

function resource({ name, description, columns, key, gaps, parent }: Table): object {
  return {
    name,
    path: `${name}.csv`,
    description,
    ...(gaps === null ? {} : { gaps }),
    schema: {
      fields: columns.map(field),
      missingValues: [''],
      primaryKey: key,
      ...(parent === null
        ? {}
        : { foreignKeys: [{ fields: parent.columns, reference: { resource: parent.table, fields: parent.columns } }] }),
    },
  };
}

function field({ name, kind, unit, values }: Column): Readonly<Record<string, Cell | object>> {
  const bound = ['count', 'seconds', 'rate'].includes(kind) ? { minimum: 0 } : {};
  const constraints = { required: true, ...bound, ...(values === null ? {} : { enum: values }) };
  return { name, type: types[kind], ...(unit === null ? {} : { unit }), constraints };
}
