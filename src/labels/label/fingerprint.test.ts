import { hash } from 'node:crypto';
import { toBytes } from '@atcute/cbor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint } from './label-fields.ts';

const label = { src: 'did:plc:l', uri: 'did:plc:aaaa', val: 'spam', cts: '2026-07-10T12:00:00Z' };

describe('a fingerprint', () => {
  test('is the same in the stream and in pages, and ignores the signature, the version and neg: false', () => {
    const sig = Uint8Array.from([1]);
    const same = [
      { ...label, sig },
      { ...label, sig: toBytes(sig) },
      { ...label, neg: false },
      { ver: 1, ...label },
    ];
    expect(new Set(same.map(fingerprint))).toEqual(new Set([fingerprint(label)]));
  });

  test('ignores the row number that only pages contain, if the row is not a label', () => {
    const odd = { ...label, val: 17 };
    expect(fingerprint({ id: 4, ...odd })).toBe(fingerprint(odd));
  });

  test('distinguishes a label from its negation, and labels with different dates or subjects', () => {
    const others = [
      { ...label, neg: true },
      { ...label, cts: '2026-07-10T12:00:01Z' },
      { ...label, uri: 'did:plc:b' },
    ];
    expect(new Set([label, ...others].map(fingerprint)).size).toBe(4);
  });

  test('differs for different rows that are not labels, but is equal for null and an empty object, and for fields in any order', () => {
    const odd = ['spam', 'ham', null, 1, [], {}, { a: 1, b: { c: 2 } }, { a: 1, b: { c: 3 } }];
    expect(new Set(odd.map(fingerprint)).size).toBe(7);
    expect(fingerprint({ b: { c: 2 }, a: 1 })).toBe(fingerprint({ a: 1, b: { c: 2 }, sig: 'x' }));
    expect(fingerprint(null)).toBe(fingerprint({}));
  });
});

/**
 * Returns the text that is hashed for a row: JSON with sorted keys. This form must never change, because fingerprints
 * are stored.
 */
function canonical(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null || depth > 8) {
    return typeof value === 'object' ? '{}' : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`;
  const fields = Object.entries(value).filter(([name]) => depth > 0 || (name !== 'sig' && name !== 'id'));
  const texts = fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([n, v]) => `${JSON.stringify(n)}:${canonical(v, depth + 1)}`);
  return `{${texts.join()}}`;
}

test('the fingerprint of a row that is not a label stays the same between versions', () => {
  const rows = fc.oneof(
    fc.jsonValue({ maxDepth: 10 }),
    fc.record({ id: fc.nat(), src: fc.string(), extra: fc.jsonValue() }),
  );
  fc.assert(
    fc.property(rows, (row) => {
      const expected = hash('sha256', `almanac.row/1\n${canonical(row)}`, 'hex').slice(0, 32);
      expect(fingerprint(row)).toBe(expected);
    }),
  );
});

describe('a row far larger than a label', () => {
  const odd = { ...label, val: 17 };
  const bytes = (length: number) => new Uint8Array(length).fill(7);
  const json = (given: Uint8Array, pad = true) => {
    const text = Buffer.from(given).toString('base64');
    return { $bytes: pad ? text : text.replace(/=+$/, '') };
  };

  test.each([
    ['6 MB of bytes', { ...label, note: toBytes(bytes(6_000_000)) }],
    ['6 MB of bytes in a row that is not a label', { ...odd, note: toBytes(bytes(6_000_000)) }],
    ['a signature of 6 MB', { ...label, sig: toBytes(bytes(6_000_000)) }],
    ['a string of 10 MB', { ...label, note: '\u0001'.repeat(10_000_000) }],
    ['200,000 empty arrays', { ...label, note: Array.from({ length: 200_000 }, () => []) }],
    ['20,000 fields', { ...label, note: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])) }],
  ])('is hashed with bounded time and memory (%s)', (_what, row) => {
    const heap = process.memoryUsage().heapUsed;
    const cpu = process.cpuUsage();
    expect(fingerprint(row)).toMatch(/^[0-9a-f]{32}$/);
    const { user, system } = process.cpuUsage(cpu);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(64 * 1024 * 1024);
    expect(user + system).toBeLessThan(1_000_000);
  });

  test('has the same fingerprint in the stream and in pages, with and without base64 padding', () => {
    for (const length of [0, 1, 2, 3, 100, 49_151, 49_152, 49_153, 200_000, 200_001, 200_002]) {
      const given = bytes(length);
      const prints = [toBytes(given), json(given), json(given, false)].map((note) => fingerprint({ ...odd, note }));
      expect(new Set(prints).size).toBe(1);
    }
  });

  test('has a fingerprint that depends on its length, its first bytes and its last bytes', () => {
    const text = 'x'.repeat(200_000);
    const others = [text, `${text}x`, `y${text.slice(1)}`, `${text.slice(1)}y`];
    expect(new Set(others.map((note) => fingerprint({ ...odd, note }))).size).toBe(4);
  });
});
