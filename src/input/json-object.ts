/** A decoded object from another party, whose fields have unknown types. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns true if a decoded value is an object, and not an array, null or a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
