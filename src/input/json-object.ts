/** A decoded object from another party, whose fields have unknown types. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns true if a decoded value is an object, and not an array, null or a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns true if arrays and objects are nested deeper than `limit`. The function limits its own recursion, so that no
 * value overflows the stack.
 */
export function isNestedDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const name in value) {
    if (isNestedDeeper((value as Readonly<Record<string, unknown>>)[name], limit - 1)) return true;
  }
  return false;
}
