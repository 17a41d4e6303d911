/** Fields of a decoded value of foreign origin. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns true for a decoded object with fields: not for an array, null or a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
