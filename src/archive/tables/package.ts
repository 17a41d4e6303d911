import { tables } from './columns.ts';
import type { Cell, CellKind, Column, Table } from './table.ts';

/** Name of the file that describes the CSV tables of a day in a form that many tools read. */
export const packageFile = 'datapackage.json';

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
