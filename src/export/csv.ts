import type { AccountRow } from '../contract/account.ts';

/** Columns of a CSV file, in their order. A row that lacks `cid` or `expires_at` has an empty cell. */
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

/** The first record: the names of the columns. */
export const csvHead = `${csvColumns.join(',')}\r\n`;

/** A row as a record of RFC 4180. */
export function csvRecord(row: AccountRow): string {
  return `${csvColumns.map((name) => cell(row[name] ?? '')).join(',')}\r\n`;
}

/**
 * A labeler's text is foreign, and a spreadsheet runs a cell that begins like a formula. Such a cell gets an
 * apostrophe in front; so does one that begins with an apostrophe, so that taking one away always restores the text.
 */
function cell(text: string): string {
  const harmless = /^['=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
