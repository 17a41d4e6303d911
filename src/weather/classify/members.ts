import { type ByteWords, type Spelling, spelling } from './byte-words.ts';
import { type JsonScan, malformed } from './json-scan.ts';

const quote = 0x22;
const comma = 0x2c;
const closeObject = 0x7d;

/** What one level of a frame reads: its keys, and past the value of the key at that place. */
export interface Level {
  readonly keys: ByteWords;
  /** In the order in which they stand; another order, or another key between them, only costs time. */
  readonly usual: readonly UsualKey[];
  readonly take: (key: number, from: number) => number;
}

/** A key as Jetstream writes it, where it nearly always stands: recognised without walking it. */
interface UsualKey {
  readonly spelling: Spelling;
  /** Its place among the level's keys, or -1. */
  readonly key: number;
}

/** Keys in their usual order, as places among the keys that are read. */
export function usualKeys(keys: readonly string[], order: readonly string[]): UsualKey[] {
  return order.map((name) => ({ spelling: spelling(`"${name}":`), key: keys.indexOf(name) }));
}

/** Past the object that begins at `from`; `malformed` where it is none. */
export function members(scan: JsonScan, from: number, level: Level): number {
  let i = scan.space(from + 1);
  if (scan.bytes[i] === closeObject) return i + 1;
  /** How many of the usual keys were met. */
  let met = 0;
  for (;;) {
    let key: number;
    let value: number;
    const usual = level.usual[met];
    if (usual !== undefined && scan.spells(usual.spelling, i)) {
      met += 1;
      key = usual.key;
      value = scan.space(i + usual.spelling.length);
    } else {
      if (scan.bytes[i] !== quote) return malformed;
      const keyEnd = scan.string(i + 1);
      if (keyEnd === malformed) return malformed;
      key = scan.find(level.keys, i + 1, keyEnd - 1);
      value = scan.afterKey(keyEnd);
      if (value === malformed) return malformed;
    }
    i = key < 0 ? scan.value(value) : level.take(key, value);
    if (i === malformed) return malformed;
    i = scan.space(i);
    if (scan.bytes[i] !== comma) return scan.bytes[i] === closeObject ? i + 1 : malformed;
    i = scan.space(i + 1);
  }
}
