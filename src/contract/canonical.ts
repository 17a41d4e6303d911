/**
 * Returns the canonical form of a JSON value (RFC 8785, JCS), over which digests are computed: keys sorted by their
 * UTF-16 units, no spaces, strings and numbers as ECMAScript serializes them. Undefined properties are omitted. Strings
 * must be well-formed Unicode; RFC 8785 defines no form for others.
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
