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
 * A labeler's text is foreign, and a spreadsheet runs a cell that begins like a formula. Where columns are separated by
 * `;` or a tab, or a line break ends a row whatever the quotes, a cell may begin inside the text too. An apostrophe is put
 * in front of what would begin like a formula in any of these places, and of an apostrophe there, so that taking away
 * one apostrophe in each of them always restores the text.
 */
function cell(text: string): string {
  const harmless = text.replace(formulaStart, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A place where a cell may begin, before what makes it a formula; a quote there may be taken for that of the cell. */
const formulaStart = /(?<=^|[;\t\r\n])(?="*['=+\-@\t\r\n＝＋－＠])/g;
