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

/** Limits on the shape of one JSON document, checked on its bytes. */
export interface JsonLimits {
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
  /** Maximum total number of values and keys. */
  readonly elements: number;
  /** Maximum number of fields of one object. */
  readonly fields: number;
  /** Maximum length of one number in bytes; parsing time depends on the number of digits. */
  readonly numberBytes?: number;
}

/** Reasons to refuse a document before it is parsed. */
export type ShapeFault = 'too_deep' | 'too_many_elements' | 'too_many_fields' | 'number_too_long';

/** Result of scanning a JSON document. */
interface Shape {
  /** First exceeded limit, or null if the document is within the limits, even if it is invalid. */
  readonly fault: ShapeFault | null;
  /** Number of values and keys up to the end or the first exceeded limit. */
  readonly elements: number;
  /** Number of fields of the outermost object, each repetition of a key included; 0 for any other value. */
  readonly topFields: number;
}

/** Default maximum length of a number in bytes; the exact decimal form of a double has at most 1,075 digits. */
const defaultNumberBytes = 1_100;

/** Maximum supported value of the depth limit. */
const maxDepth = 256;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Determines the nesting depth and counts the elements of a JSON document in one pass over its bytes, and stops at the
 * first exceeded limit. The scan precedes `JSON.parse`, so that a small document cannot become millions of objects. The
 * scan does not validate the syntax. The count is never too low for a document that `JSON.parse` accepts, nor for the
 * part of an invalid document that `JSON.parse` reads before it fails.
 */
export function scanJson(bytes: Uint8Array, limits: JsonLimits): Shape {
  const { length } = bytes;
  const deepest = Math.min(limits.depth, maxDepth);
  const numberBytes = limits.numberBytes ?? defaultNumberBytes;
  /** Number of fields of each open container up to the current position. */
  const fields = new Uint32Array(deepest + 1);
  let depth = 0;
  let elements = 0;
  let at = 0;
  const shape = (fault: ShapeFault | null): Shape => ({ fault, elements, topFields: fields[1] ?? 0 });
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte <= 0x20 || byte === comma) {
      at += 1;
      continue;
    }
    if (byte === colon) {
      const count = (fields[depth] as number) + 1;
      if (count > limits.fields) return shape('too_many_fields');
      fields[depth] = count;
      at += 1;
      continue;
    }
    if (byte === closeArray || byte === closeObject) {
      if (depth > 0) depth -= 1;
      at += 1;
      continue;
    }
    elements += 1;
    if (elements > limits.elements) return shape('too_many_elements');
    if (byte === openArray || byte === openObject) {
      depth += 1;
      if (depth > deepest) return shape('too_deep');
      fields[depth] = 0;
      at += 1;
    } else if (byte === quote) {
      at = afterString(bytes, at + 1);
    } else {
      const start = at;
      at = afterScalar(bytes, at + 1);
      if (at - start > numberBytes) return shape('number_too_long');
    }
  }
  return shape(null);
}

/** Returns the index after the closing quote of a string, or the length of the bytes if there is no closing quote. */
function afterString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  return length;
}

/** Returns the index after a number or a literal: the next white space, punctuation or string. */
function afterScalar(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte <= 0x20 || byte === quote || byte === comma || byte === colon) break;
    if (byte === openArray || byte === closeArray || byte === openObject || byte === closeObject) break;
  }
  return at;
}
