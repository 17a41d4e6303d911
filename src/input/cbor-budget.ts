import type { ShapeFault } from './json-budget.ts';

/** Limits on the shape of consecutive DAG-CBOR items, checked on their bytes. */
export interface CborLimits {
  /** Maximum nesting depth of arrays and maps. */
  readonly depth: number;
  /** Maximum total number of data items, including keys. */
  readonly elements: number;
  /** Maximum number of entries of one map. */
  readonly fields: number;
}

/** Result of scanning DAG-CBOR items. */
export interface CborShape {
  /**
   * First exceeded limit, `malformed` if no DAG-CBOR decoder accepts the bytes, or null if the items are complete and
   * within the limits.
   */
  readonly fault: ShapeFault | 'malformed' | null;
  /** Number of data items up to the end or the first error. */
  readonly elements: number;
}

const maxDepth = 256;

/**
 * Number of items by which a numeric key such as "1023" increases the count. JavaScript engines store a field with
 * such a key in an array whose length is about 1.5 times the number. In a measurement, a single key of seven bytes
 * used 15 kB.
 */
export const indexKeyElements = 160;

/**
 * Determines the nesting depth and counts the data items of the first `items` DAG-CBOR items in one pass, and stops at
 * the first exceeded limit. The scan precedes decoding, so that a frame cannot become millions of objects. The scan
 * checks neither the order of keys nor UTF-8 nor canonical form. The count is never too low for bytes that the decoder
 * accepts.
 */
export function scanCbor(bytes: Uint8Array, limits: CborLimits, items = 1): CborShape {
  const { length } = bytes;
  const deepest = Math.min(limits.depth, maxDepth);
  /** Number of remaining items of each open container. */
  const open = new Float64Array(deepest + 1);
  /** Type of each open container: 1 for a map, 0 for an array. */
  const maps = new Uint8Array(deepest + 1);
  let depth = 0;
  let left = items;
  let elements = 0;
  let at = 0;
  for (;;) {
    while (left === 0) {
      if (depth === 0) return { fault: null, elements };
      depth -= 1;
      left = open[depth] as number;
    }
    if (at >= length) return { fault: 'malformed', elements };
    const first = bytes[at] as number;
    const type = first >> 5;
    const info = first & 0x1f;
    at += 1;
    // Keys and values alternate: before a key, the number of remaining items is even.
    const isKey = maps[depth] === 1 && left % 2 === 0;
    elements += isKey && startsWithDigit(bytes, at, first) ? indexKeyElements : 1;
    if (elements > limits.elements) return { fault: 'too_many_elements', elements };
    left -= 1;
    const size = argumentBytes(info);
    if (size < 0 || at + size > length) return { fault: 'malformed', elements };
    if (type === 7) {
      at += size;
      continue;
    }
    const argument = size === 0 ? info : readArgument(bytes, at, size);
    at += size;
    if (type === 2 || type === 3) {
      at += argument;
      if (at > length) return { fault: 'malformed', elements };
    } else if (type === 6) {
      // A tag is followed by the tagged item.
      left += 1;
    } else if (type === 4 || type === 5) {
      if (type === 5 && argument > limits.fields) return { fault: 'too_many_fields', elements };
      const needed = type === 5 ? 2 * argument : argument;
      // Reject a container with more items than bytes are left, because each item requires at least one byte.
      if (needed > length - at) return { fault: 'malformed', elements };
      if (depth >= deepest) return { fault: 'too_deep', elements };
      open[depth] = left;
      depth += 1;
      left = needed;
      maps[depth] = type === 5 ? 1 : 0;
    }
  }
}

const emptyText = 0x60;

/**
 * Returns true if a text begins with a digit. Every key that an engine stores like an array index begins with a digit.
 */
function startsWithDigit(bytes: Uint8Array, at: number, first: number): boolean {
  const text = at + Math.max(0, argumentBytes(first & 0x1f));
  const byte = bytes[text] ?? 0;
  return first >> 5 === 3 && first !== emptyText && byte >= 0x30 && byte <= 0x39;
}

/**
 * Returns the number of argument bytes after the first byte of an item, or -1 for indefinite and reserved lengths,
 * which DAG-CBOR does not allow.
 */
function argumentBytes(info: number): number {
  if (info < 24) return 0;
  return info < 28 ? 1 << (info - 24) : -1;
}

function readArgument(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = at; i < at + size; i += 1) value = value * 256 + (bytes[i] as number);
  return value;
}
