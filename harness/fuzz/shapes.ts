import type { Dice } from '../../sim/random.ts';

/**
 * Returns the size of a generated part. Most sizes are small, so that many inputs can be tested; a few reach up to the
 * maximum of the entry point.
 */
export function sizeOf(dice: Dice, max: number): number {
  const kind = dice.below(1_000);
  const bound = kind < 900 ? 60 : kind < 997 ? 4_000 : max;
  return 1 + dice.below(Math.min(bound, max));
}

/**
 * Pieces of JSON that hostile documents repeat. They are as short as possible, so that a document contains the maximum
 * number of values.
 */
const pieces = [
  '[]',
  '{}',
  '0',
  '""',
  '1.5e9',
  'null',
  '[[]]',
  '{"":0}',
  '"\\u0000"',
  '-0',
  '{"a":{}}',
  '"é"',
  '1e400',
];

/**
 * Maximum size in bytes of objects with distinct fields. Larger objects would fill the heap while they are generated.
 */
const maxFieldBytes = 1_000_000;

function fields(count: number, name: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => `"${name(i)}":0`).join();
}

/** Returns a hostile JSON value of approximately `size` bytes. */
export function hostileJson(dice: Dice, size: number): string {
  switch (dice.below(11)) {
    case 0:
      return '['.repeat(size / 2) + ']'.repeat(size / 2);
    case 1:
      return `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`;
    case 2: {
      const piece = dice.pick(pieces);
      return `[${`${piece},`.repeat(size / (piece.length + 1))}0]`;
    }
    case 3:
      return `{${fields(Math.min(size, maxFieldBytes) / 8, (i) => i.toString(36))}}`;
    case 4:
      return `{${'"a":0,'.repeat(size / 6)}"a":1}`;
    case 5:
      return `"${dice.pick(['x', '\\u0000', '\\n', 'é', '\\ud800', '😀', '\\\\']).repeat(size / 2)}"`;
    case 6:
      return `${dice.pick(['1', '-9', '0.', '1e'])}${'1'.repeat(size)}`;
    case 7:
      return `${' \n\t\r'.repeat(size / 4)}[]`;
    case 8:
      return `{"$bytes":"${'QUJD'.repeat(size / 4)}${dice.pick(['', '=', '==', '!'])}"}`;
    case 9:
      // Use keys that look like integers: engines store them separately.
      return `{${fields(Math.min(size, maxFieldBytes) / 12, (i) => String(i * 1_023))}}`;
    default:
      return `[${`{"__proto__":[${'0,'.repeat(3)}0],"constructor":{}},`.repeat(size / 40)}0]`;
  }
}

/** Returns a hostile CBOR item of approximately `size` bytes. */
export function hostileCbor(dice: Dice, size: number): Uint8Array {
  switch (dice.below(10)) {
    case 0:
      return Buffer.alloc(size, dice.pick([0x81, 0x9f, 0xc1, 0xd8]));
    case 1:
      return Buffer.concat([Buffer.alloc(size - (size % 3), Buffer.from([0xa1, 0x61, 0x61])), Buffer.from([0])]);
    case 2:
      return array(size, Buffer.alloc(size, dice.pick([0x80, 0xa0, 0x00, 0x60, 0x40, 0xf6, 0x20])));
    case 3:
      return array(dice.below(2 ** 31), Buffer.alloc(size, 0x80));
    case 4:
      return sized(0x40, size, Buffer.alloc(size, dice.below(256)));
    case 5:
      return sized(0x60, size, Buffer.alloc(size, dice.pick([0x61, 0x00, 0xff, 0xc3])));
    case 6: {
      const entries = Math.floor(size / 6);
      const bytes = Buffer.alloc(6 * entries, 0x64);
      for (let i = 0; i < entries; i += 1) bytes.write(`${(0x1000 + i).toString(16).slice(-4)}\0`, 6 * i + 1, 'latin1');
      return sized(0xa0, entries, bytes);
    }
    case 7: {
      // Use small integers as keys: engines treat them as array indexes.
      const key = String(dice.below(1_100));
      const map = Buffer.concat([Buffer.from([0xa1, 0x60 | key.length]), Buffer.from(key), Buffer.from([0])]);
      const count = Math.ceil(size / map.length);
      return sized(0x80, count, Buffer.alloc(map.length * count, map));
    }
    case 8:
      return Buffer.from(Array.from({ length: Math.min(size, 4_000) }, () => dice.below(256)));
    default:
      return Buffer.concat([sized(0x40, 2 ** 32 - 1, Buffer.alloc(0)), Buffer.alloc(size)]);
  }
}

function array(claimed: number, items: Uint8Array): Uint8Array {
  return sized(0x80, claimed, items);
}

/** Returns a CBOR head with the given type and length, followed by `rest`. */
function sized(type: number, length: number, rest: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = type | 0x1a;
  head.writeUInt32BE(length >>> 0, 1);
  if (length < 24) return Buffer.concat([Buffer.from([type | length]), rest]);
  if (length < 256) return Buffer.concat([Buffer.from([type | 0x18, length]), rest]);
  if (length < 65_536) return Buffer.concat([Buffer.from([type | 0x19, length >> 8, length & 255]), rest]);
  return Buffer.concat([head, rest]);
}

/** Returns a copy of the bytes with some of them changed, omitted, repeated or cut off. */
export function mutated(dice: Dice, bytes: Uint8Array): Uint8Array {
  const at = dice.below(bytes.length + 1);
  switch (dice.below(5)) {
    case 0: {
      const copy = Uint8Array.from(bytes);
      for (let i = dice.below(4); i >= 0; i -= 1) copy[dice.below(Math.max(1, copy.length))] = dice.below(256);
      return copy;
    }
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([dice.below(256)]), bytes.subarray(at)]);
    default:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + dice.below(8)))]);
  }
}
