import { type ByteWords, type Spelling, spelling } from './byte-words.ts';
import { type JsonScan, malformed } from './json-scan.ts';

const quote = 0x22;
const comma = 0x2c;
const closeObject = 0x7d;

/** Describes how to read one level of a frame. `take` parses the value of a key and returns the index after it. */
export interface Level {
  readonly keys: ByteWords;
  /** Keys in their most frequent order. A different order, or another key between them, only costs time. */
  readonly expected: readonly ExpectedKey[];
  readonly take: (key: number, from: number) => number;
}

/** A key as Jetstream writes it. It is detected at its expected index without scanning. */
interface ExpectedKey {
  readonly spelling: Spelling;
  /** Index of the key among the level's keys, or -1. */
  readonly key: number;
}

/** Returns the expected keys in the given order, with their indexes among the keys that are read. */
export function expectedKeys(keys: readonly string[], order: readonly string[]): ExpectedKey[] {
  return order.map((name) => ({ spelling: spelling(`"${name}":`), key: keys.indexOf(name) }));
}

/** Returns the index after the object that begins at `from`, or `malformed` if no valid object begins there. */
export function members(scan: JsonScan, from: number, level: Level): number {
  const { bytes } = scan;
  const { expected: inOrder } = level;
  let i = scan.space(from + 1);
  if (bytes[i] === closeObject) return i + 1;
  /** Number of expected keys found in this object so far. */
  let met = 0;
  for (;;) {
    let key: number;
    let value: number;
    const expected = inOrder[met];
    if (expected !== undefined && scan.spells(expected.spelling, i)) {
      met += 1;
      key = expected.key;
      value = scan.space(i + expected.spelling.length);
    } else {
      if (bytes[i] !== quote) return malformed;
      const keyEnd = scan.string(i + 1);
      if (keyEnd === malformed) return malformed;
      key = scan.find(level.keys, i + 1, keyEnd - 1);
      value = scan.afterKey(keyEnd);
      if (value === malformed) return malformed;
    }
    i = key < 0 ? scan.value(value) : level.take(key, value);
    if (i === malformed) return malformed;
    if (bytes[i] !== comma) {
      i = scan.space(i);
      if (bytes[i] !== comma) return bytes[i] === closeObject ? i + 1 : malformed;
    }
    i = scan.space(i + 1);
  }
}
