import { csvCell } from '../../contract/csv-cell.ts';
import type { Edition, Row, Table } from './table.ts';

/**
 * Formats a table as CSV (RFC 4180) in UTF-8. A null becomes an empty cell. A text that a spreadsheet would run as a
 * formula is escaped.
 */
export function csvBytes({ lineEnd }: Edition, { columns }: Table, rows: readonly Row[]): Buffer {
  const records = [columns.map(({ name }) => name), ...rows.map((row) => row.map((cell) => String(cell ?? '')))];
  return Buffer.from(records.map((record) => `${record.map(csvCell).join(',')}${lineEnd}`).join(''));
}
