import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteRange } from './negotiation.ts';

test.each([
  [undefined, null],
  ['bytes=0-0', { from: 0, to: 1 }],
  ['bytes=2-', { from: 2, to: 10 }],
  ['bytes=-3', { from: 7, to: 10 }],
  ['bytes=-30', { from: 0, to: 10 }],
  ['bytes=8-99', { from: 8, to: 10 }],
  ['Bytes= 8-9 ', { from: 8, to: 10 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', null],
  ['bytes=-', null],
  ['bytes=0-1,4-5', null],
  ['lines=0-1', null],
  ['bytes=0x1-2', null],
  ['bytes=99999999999999999999-', null],
])('byteRange, given the Range header %s and a body of ten bytes, returns %j', (header, range) => {
  expect(byteRange(header, 10)).toEqual(range);
});

test('no Range header selects bytes outside the body', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'bytes=-,0123456789 ') }), fc.nat(50), (text, bytes) => {
      const range = byteRange(`bytes=${text}`, bytes);
      if (range === null || range === 'unsatisfiable') return;
      expect(range.from).toBeGreaterThanOrEqual(0);
      expect(range.to).toBeLessThanOrEqual(bytes);
      expect(range.from).toBeLessThan(range.to);
    }),
  );
});
