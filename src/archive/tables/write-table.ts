import { parquetWriteBuffer } from 'hyparquet-writer';
import { csvCell } from '../../contract/encodings.ts';
import type { Cell, CellKind, Column, Edition, Row, Table } from './table.ts';

const types = {
  hour: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  instant: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  day: { type: 'INT32', converted_type: 'DATE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  count: { type: 'INT64' },
  seconds: { type: 'DOUBLE' },
  rate: { type: 'DOUBLE' },
  flag: { type: 'BOOLEAN' },
} as const satisfies Readonly<Record<CellKind, object>>;

/** Maximum number of rows in a row group. The table of one day fits into one group. */
const rowGroupSize = 100_000;

/**
 * Formats a table as Parquet. The bytes depend only on the table and its rows, so that a rebuild of the day reproduces
 * them.
 */
export function parquetBytes({ schema }: Edition, { name, columns }: Table, rows: readonly Row[]): Buffer {
  const bytes = parquetWriteBuffer({
    columnData: columns.map((column, place) => ({
      name: column.name,
      data: rows.map((row) => parquetValue(column, row[place] ?? null)),
    })),
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map((column) => ({
        name: column.name,
        ...types[column.kind],
        repetition_type: column.isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
    rowGroupSize,
    codec: 'SNAPPY',
    createdBy: 'almanac',
    kvMetadata: [
      { key: 'schema', value: schema },
      { key: 'table', value: name },
      { key: 'licence', value: 'CC0-1.0' },
    ],
  });
  return Buffer.from(bytes);
}

function parquetValue({ kind }: Column, cell: Cell): bigint | Date | Cell {
  if (cell === null) return null;
  if (kind === 'count') return BigInt(cell);
  return kind === 'hour' || kind === 'day' || kind === 'instant' ? new Date(String(cell)) : cell;
}

/**
 * Formats a table as CSV (RFC 4180) in UTF-8. A null becomes an empty cell. A text that a spreadsheet would run as a
 * formula is escaped.
 */
export function csvBytes({ lineEnd }: Edition, { columns }: Table, rows: readonly Row[]): Buffer {
  const records = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => String(cell ?? '')))];
  return Buffer.from(records.map((record) => `${record.map(csvCell).join(',')}${lineEnd}`).join(''));
}
