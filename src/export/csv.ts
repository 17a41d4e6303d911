import type { AccountRow } from '../contract/account.ts';

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
  return `${csvColumns.map((name) => cell(row[name] ?? '')).join(',')}\r\n`;
}

/**
 * Formats a foreign text as a cell that no spreadsheet executes as a formula. In programs that separate columns by `;` or
 * tab, or that end a row at any line break, a cell may also begin within the text. An apostrophe is inserted wherever a
 * formula could begin, and before an apostrophe in such a place, so that removing one apostrophe in each place restores the
 * text.
 */
function cell(text: string): string {
  const harmless = text.replace(formulaStart, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Matches a place where a cell may begin with a formula, with or without a preceding quote. */
const formulaStart = /(?<=^|[;\t\r\n])(?="*['=+\-@\t\r\n＝＋－＠])/g;
