import { toBytes } from '@atcute/cbor';
import { describe, expect, test } from 'vitest';
import { fingerprint } from './fingerprint.ts';

const label = { src: 'did:plc:l', uri: 'did:plc:aaaa', val: 'spam', cts: '2026-07-10T12:00:00Z' };

describe('a fingerprint', () => {
  test('is the same by stream and by page, after re-signing, and with neg: false', () => {
    const sig = Uint8Array.from([1]);
    const same = [
      { ...label, sig },
      { ...label, sig: toBytes(sig) },
      { ...label, neg: false },
      { ver: 1, ...label },
    ];
    expect(new Set(same.map(fingerprint))).toEqual(new Set([fingerprint(label)]));
  });

  test('leaves out the row number that a page shows and a frame does not, also of rows that are no labels', () => {
    const odd = { ...label, val: 17 };
    expect(fingerprint({ id: 4, ...odd })).toBe(fingerprint(odd));
  });

  test('tells a removal, another date and another subject apart', () => {
    const others = [
      { ...label, neg: true },
      { ...label, cts: '2026-07-10T12:00:01Z' },
      { ...label, uri: 'did:plc:b' },
    ];
    expect(new Set([label, ...others].map(fingerprint)).size).toBe(4);
  });

  test('tells rows apart that are no labels, whatever the order of their fields', () => {
    const odd = ['spam', 'ham', null, 1, [], {}, { a: 1, b: { c: 2 } }, { a: 1, b: { c: 3 } }];
    expect(new Set(odd.map(fingerprint)).size).toBe(7);
    expect(fingerprint({ b: { c: 2 }, a: 1 })).toBe(fingerprint({ a: 1, b: { c: 2 }, sig: 'x' }));
    expect(fingerprint(null)).toBe(fingerprint({}));
  });
});
