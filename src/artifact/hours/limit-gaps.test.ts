import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type KeyedGap, limitGaps } from './hours.ts';

/** Joined gaps cover at least the time of the given gaps, and the result states that gaps were joined. */

const anyGap = fc
  .record({ from: fc.nat(1e9), length: fc.integer({ min: 1, max: 5e7 }), key: fc.constantFrom('a', 'b') })
  .map(({ from, length, key }): KeyedGap => ({ from, to: from + length, key }));

test('gaps within the limit are sorted, and joined only if they overlap', () => {
  const gaps = [
    { from: 5, to: 6, key: 'b' },
    { from: 1, to: 3, key: 'a' },
    { from: 2, to: 4, key: 'a' },
  ];
  expect(limitGaps(gaps, 2)).toEqual({ gaps: [{ from: 1, to: 4, key: 'a' }, gaps[0]], overflow: false });
});

test('every gap is within a joined gap of the same key, and the number of gaps stays within the limit', () => {
  fc.assert(
    fc.property(fc.array(anyGap, { maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (gaps, limit) => {
      const { gaps: joined, overflow } = limitGaps(gaps, limit);
      expect(joined.length).toBeLessThanOrEqual(limit);
      for (const { from, to, key } of gaps) {
        expect(joined.some((gap) => gap.key === key && gap.from <= from && gap.to >= to)).toBe(true);
      }
      if (!overflow) {
        const length = (all: readonly KeyedGap[], at: number) => all.some(({ from, to }) => from <= at && at < to);
        for (const { from, to } of joined) {
          for (const at of [from, to - 1]) expect(length(gaps, at)).toBe(true);
        }
      }
    }),
  );
});
