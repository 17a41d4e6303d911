/**
 * Returns the canonical form of a JSON value (RFC 8785, JCS), from which digests are computed: keys are sorted by
 * their UTF-16 code units, there is no white space, and strings and numbers have the form that ECMAScript gives them.
 * Undefined properties are omitted. Strings must be well-formed Unicode, because RFC 8785 defines no form for other
 * strings.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  // The default order of `sort` is that of the code units.
  for (const key of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

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
