import fc from 'fast-check';
import { expect, it } from 'vitest';
import { minute } from '../../time.ts';
import { packStamps, unpackStamps } from './stamps.ts';

const stamps = fc
  .array(fc.record({ offset: fc.integer({ min: 0, max: minute - 1 }), removed: fc.boolean() }), { maxLength: 50 })
  .map((all) => all.sort((a, b) => a.offset - b.offset));

it('unpackStamps restores packed stamps in order', () => {
  fc.assert(
    fc.property(stamps, (all) => {
      expect([...unpackStamps(packStamps(all))]).toEqual(all);
    }),
  );
});

it('packed stamps that are one microsecond apart take one byte each, except for the first stamp', () => {
  const run = Array.from({ length: 100 }, (_, i) => ({ offset: 1_000 + i, removed: false }));
  expect(packStamps(run)).toHaveLength(101);
});
