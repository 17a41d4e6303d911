import { type Column, type Table, tableFormats, tables } from './columns.ts';

/** Name of the data dictionary in the directory of an archive. */
export const dictionaryFile = 'tables.json';
/** Schema of the data dictionary. */
export const tablesSchema = 'almanac.archive.tables/v1';

/** Formats the data dictionary: each column with its unit and clock, and a JSON Schema of the rows of each table. */
export function formatDictionary(): Buffer {
  const dictionary = {
    schema: tablesSchema,
    licence: 'CC0-1.0',
    formats: tableFormats,
    null_means: 'not observed, or not known to the archive; never zero. An empty cell of CSV is null.',
    tables: tables.map((table) => ({
      name: table.name,
      description: table.description,
      columns: table.columns.map(({ name, kind, isNullable, unit, clock, description }) => {
        return { name, type: kind, nullable: isNullable, unit, clock, description };
      }),
      row_schema: rowSchema(table),
    })),
  };
  return Buffer.from(`${JSON.stringify(dictionary, null, 1)}\n`);
}

/** Returns the JSON Schema of a row, given as an object with one property for each column. */
export function rowSchema({ name, columns }: Table): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    type: 'object',
    required: columns.filter(({ isAbsentBefore = false }) => !isAbsentBefore).map(({ name: required }) => required),
    additionalProperties: false,
    properties: Object.fromEntries(columns.map((column) => [column.name, cellSchema(column)])),
  };
}

const kinds = {
  hour: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:00:00Z$' },
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
