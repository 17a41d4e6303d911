import { decodeFirst, encode, toBytes } from '@atcute/cbor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CborLimits, indexKeyElements, scanCbor } from './cbor-budget.ts';

const generous: CborLimits = { depth: 200, elements: 1_000_000, fields: 1_000_000 };

interface Count {
  elements: number;
  depth: number;
  fields: number;
}

/** Counts the items of a decoded value. */
function count(value: unknown): Count {
  const isContainer = Array.isArray(value) || (value !== null && Object.getPrototypeOf(value) === Object.prototype);
  if (!isContainer) return { elements: 1, depth: 0, fields: 0 };
  const children = Object.values(value as object).map(count);
  const names = Array.isArray(value) ? [] : Object.keys(value as object);
  const keys = names.length;
  const keyElements = names.reduce((sum, name) => sum + (/^\d/.test(name) ? indexKeyElements : 1), 0);
  return {
    elements: children.reduce((sum, { elements }) => sum + elements, 1 + keyElements),
    depth: 1 + Math.max(0, ...children.map(({ depth }) => depth)),
    fields: Math.max(keys, ...children.map(({ fields }) => fields)),
  };
}

const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    fc.oneof(
      fc.maxSafeInteger(),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => toBytes(bytes)),
    ),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant(''), fc.nat(2_000).map(String)), tie('value'), {
      maxKeys: 6,
      noNullPrototype: true,
    }),
  ),
}));
const items = fc.tuple(values, values).map(([header, body]) => ({
  header,
  body,
  bytes: Buffer.concat([encode(header), encode(body)]),
}));

function both({ header, body }: { header: unknown; body: unknown }): Count {
  const [a, b] = [count(header), count(body)];
  return {
    elements: a.elements + b.elements,
    depth: Math.max(a.depth, b.depth),
    fields: Math.max(a.fields, b.fields),
  };
}

describe('scanCbor', () => {
  test('counts exactly the items that a decoder returns for two consecutive values', () => {
    fc.assert(
      fc.property(items, (given) => {
        expect(scanCbor(given.bytes, generous, 2)).toEqual({ fault: null, elements: both(given).elements });
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuses items if and only if they exceed a limit', () => {
    fc.assert(
      fc.property(items, (given) => {
        const { elements, depth, fields } = both(given);
        const fault = (limits: Partial<CborLimits>) => scanCbor(given.bytes, { ...generous, ...limits }, 2).fault;
        expect(fault({ elements, depth, fields })).toBeNull();
        expect(fault({ elements: elements - 1 })).toBe('too_many_elements');
        if (depth > 0) expect(fault({ depth: depth - 1 })).toBe('too_deep');
        if (fields > 0) expect(fault({ fields: fields - 1 })).toBe('too_many_fields');
      }),
      { numRuns: 2_000 },
    );
  });

  test('accepts any bytes that the decoder accepts, and never counts fewer items than the decoder returns', () => {
    // First bytes of every kind of item, so that many of the generated inputs are valid.
    const bytes = fc.array(
      fc.oneof(
        fc.constantFrom(
          0x80,
          0x81,
          0x82,
          0xa0,
          0xa1,
          0x60,
          0x61,
          0x40,
          0x41,
          0xf6,
          0xf5,
          0x00,
          0x18,
          0x19,
          0xd8,
          0x2a,
          0xfb,
        ),
        fc.nat(255),
      ),
      { maxLength: 12 },
    );
    let decoded = 0;
    fc.assert(
      fc.property(bytes, (given) => {
        const input = Uint8Array.from(given);
        let value: unknown;
        try {
          [value] = decodeFirst(input) as [unknown, Uint8Array];
        } catch {
          return;
        }
        decoded += 1;
        const { fault, elements } = scanCbor(input, generous);
        expect(fault).toBeNull();
        expect(elements).toBeGreaterThanOrEqual(count(value).elements);
      }),
      { numRuns: 20_000 },
    );
    expect(decoded).toBeGreaterThan(1_000);
  });

  const frames: [string, Uint8Array, Partial<CborLimits>, string][] = [
    [
      'an array that claims more items than there are bytes',
      Uint8Array.of(0x9a, 0xff, 0xff, 0xff, 0xff),
      {},
      'malformed',
    ],
    ['a map that claims more entries than there are bytes', Uint8Array.of(0xb8, 0xff, 0x61, 0x61), {}, 'malformed'],
    ['a byte string that ends too early', Uint8Array.of(0x5b, 0, 0, 0, 1, 0, 0, 0, 0), {}, 'malformed'],
    ['an indefinite length', Uint8Array.of(0x9f, 0xff), {}, 'malformed'],
    ['5,000 open arrays', new Uint8Array(5_000).fill(0x81), { depth: 32 }, 'too_deep'],
    ['tags without end', new Uint8Array(5_000).fill(0xc1), { elements: 1_000 }, 'too_many_elements'],
    ['keys that are array indices', indexKeys(2_000), { elements: 100_000 }, 'too_many_elements'],
    ['a wide map', Uint8Array.of(0xb9, 0x01, 0x01, ...new Uint8Array(1_000)), { fields: 256 }, 'too_many_fields'],
    ['11.9 MB of empty arrays', emptyArrays(11_900_000), { elements: 100_000 }, 'too_many_elements'],
  ];
  test.each(frames)('refuses %s', (_what, bytes, limits, fault) => {
    expect(scanCbor(bytes, { ...generous, ...limits }).fault).toBe(fault);
  });
});

function emptyArrays(count: number): Uint8Array {
  const bytes = new Uint8Array(count + 5).fill(0x80);
  bytes.set([0x9a, count >>> 24, (count >>> 16) & 255, (count >>> 8) & 255, count & 255]);
  return bytes;
}

/** Returns an array of maps with the single key "1023", seven bytes each. */
function indexKeys(count: number): Uint8Array {
  const map = Buffer.concat([Buffer.from([0xa1, 0x64]), Buffer.from('1023'), Buffer.from([0])]);
  return Buffer.concat([Buffer.from([0x99, count >> 8, count & 255]), Buffer.alloc(map.length * count, map)]);
}
