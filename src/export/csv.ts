import type { AccountRow } from '../contract/account.ts';
import { csvCell } from '../contract/csv-cell.ts';

/** Columns of a CSV file, in order. A row without `cid` or `expires_at` has an empty cell. */
export const csvColumns = [
  'observed_at',
  'labeler_did',
  'action',
  'value',
  'uri',
  'cid',
  'source_timestamp',
  'expires_at',
  'signature',
] as const satisfies readonly (keyof AccountRow)[];

/** First record of a CSV file, with the names of the columns. */
export const csvHead = `${csvColumns.join(',')}\r\n`;

/** Formats a row as a record of RFC 4180. */
export function csvRecord(row: AccountRow): string {
  return `${csvColumns.map((name) => csvCell(row[name] ?? '')).join(',')}\r\n`;
}
