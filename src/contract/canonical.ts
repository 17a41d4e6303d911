/**
 * Returns the canonical form of a JSON value (RFC 8785, JCS), from which digests are computed: keys are sorted by
 * their UTF-16 code units, there is no white space, and strings and numbers have the form that ECMAScript gives them.
 * Undefined properties are omitted. Strings must be well-formed Unicode, because RFC 8785 defines no form for other
 * strings.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
