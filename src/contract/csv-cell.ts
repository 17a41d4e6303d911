/**
 * Formats untrusted text as a CSV cell (RFC 4180) that no spreadsheet executes as a formula. Some programs also split
 * cells at `;`, tabs or single line breaks, so a cell may begin in the middle of the text. An apostrophe is therefore
 * inserted wherever a formula could begin. It is also inserted before an existing apostrophe in such a place, so that
 * removing one apostrophe from each place restores the text.
 */
export function csvCell(text: string): string {
  const harmless = text.replace(formulaStart, "'");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Matches each place where a cell may begin with a formula, even after an opening quote. */
const formulaStart = /(?<=^|[;\t\r\n])(?="*['=+\-@\t\r\n＝＋－＠])/g;
