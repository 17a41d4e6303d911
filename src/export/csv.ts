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

/** The first record: the names of the columns. */
export const csvHead = `${csvColumns.join(',')}\r\n`;

/** Formats a row as a record of RFC 4180. */
export function csvRecord(row: AccountRow): string {
  return `${csvColumns.map((name) => cell(row[name] ?? '')).join(',')}\r\n`;
}

/**
 * Escapes a labeler's text, which is foreign: a spreadsheet executes a cell that begins like a formula. In programs
 * that separate columns by `;` or tab, or end a row at any line break regardless of quotes, a cell may also begin
 * within the text. An apostrophe is inserted wherever a formula could begin, and before an apostrophe there, so that
 * removing one apostrophe in each of these places restores the text.
 */
function cell(text: string): string {
  const harmless = text.replace(formulaStart, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Matches a place where a cell may begin with a formula; a quote there may be taken for the cell's quote. */
const formulaStart = /(?<=^|[;\t\r\n])(?="*['=+\-@\t\r\n＝＋－＠])/g;
