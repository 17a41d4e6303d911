/**
 * Returns true if arrays and objects are nested deeper than `limit`. Recurses no deeper than the limit, so any value
 * is safe.
 */
export function isNestedDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const name in value) {
    if (isNestedDeeper((value as Readonly<Record<string, unknown>>)[name], limit - 1)) return true;
  }
  return false;
}
