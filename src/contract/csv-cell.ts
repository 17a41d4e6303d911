/**
 * Formats an untrusted text as a cell of CSV (RFC 4180) that no spreadsheet executes as a formula. In programs that separate
 * columns by `;` or tab, or that end a row at any line break, a cell may also begin within the text. An apostrophe is
 * inserted wherever a formula could begin, and before an apostrophe in such a place, so that removing one apostrophe in
 * each place restores the text.
 */
export function csvCell(text: string): string {
  const harmless = text.replace(formulaStart, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Matches a place where a cell may begin with a formula, with or without a preceding quote. */
const formulaStart = /(?<=^|[;\t\r\n])(?="*['=+\-@\t\r\n＝＋－＠])/g;
