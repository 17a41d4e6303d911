import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publishedCounts, rankOf } from './value-counts.ts';

test('a count under five is published only as such, zero included', () => {
  expect(publishedCounts([12, 4, 0])).toEqual([12, 'fewer_than_5', 'fewer_than_5']);
});

test('if one count is under five, the next smallest is not published', () => {
  expect(publishedCounts([100, 50, 2])).toEqual([100, null, 'fewer_than_5']);
  expect(publishedCounts([50, 5, 5, 3])).toEqual([50, null, 5, 'fewer_than_5']);
});

test('a single count is named as small or published', () => {
  expect(publishedCounts([3])).toEqual(['fewer_than_5']);
  expect(publishedCounts([7])).toEqual([7]);
});

test('no count under five follows from the total and the published counts', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 8 }), (counts) => {
      const published = publishedCounts(counts);
      const hidden = published.filter((count) => typeof count !== 'number').length;
      expect(hidden).not.toBe(1);
      for (const [i, count] of published.entries()) {
        if (typeof count === 'number') expect(count).toBe(counts[i]);
        else expect(count === 'fewer_than_5').toBe((counts[i] ?? 0) < 5);
      }
    }),
  );
});

test('counts under five have one rank', () => {
  expect([0, 4, 5, 6].map(rankOf)).toEqual([0, 0, 5, 6]);
});
