import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publishedCounts, rankOf } from './value-counts.ts';

test('a count under five is published only as such, zero included', () => {
  expect(publishedCounts([12, 4, 0])).toEqual([12, 'fewer_than_5', 'fewer_than_5']);
});

test.each<{ counts: number[]; published: ReturnType<typeof publishedCounts> }>([
  { counts: [100, 50, 2], published: [100, null, 'fewer_than_5'] },
  { counts: [50, 5, 5, 3], published: [50, null, null, 'fewer_than_5'] },
  { counts: [100, 5, 0], published: [null, null, 'fewer_than_5'] },
  { counts: [100, 6, 6, 1], published: [100, null, null, 'fewer_than_5'] },
  { counts: [60, 4, 4], published: [null, 'fewer_than_5', 'fewer_than_5'] },
])('$counts are published as $published, so that the total reveals no small count', ({ counts, published }) => {
  expect(publishedCounts(counts)).toEqual(published);
});

test('a single count is named as small or published', () => {
  expect(publishedCounts([3])).toEqual(['fewer_than_5']);
  expect(publishedCounts([7])).toEqual([7]);
});

/** Returns every number that a small count can have, found by trying all counts with the published form and total. */
function possibleSmallCounts(published: ReturnType<typeof publishedCounts>, total: number): Set<number> {
  const smallestListed = Math.min(total + 1, ...published.filter((count) => typeof count === 'number'));
  const hidden = published.filter((count) => typeof count !== 'number');
  const rest = total - published.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
  /** Sums that the first n hidden counts can have, without the small count that is looked for. */
  let sums = new Set([0]);
  for (const kind of hidden.toSpliced(hidden.indexOf('fewer_than_5'), 1)) {
    const [from, to] = kind === null ? [5, smallestListed - 1] : [0, 4];
    const next = new Set<number>();
    for (const sum of sums) for (let count = from; count <= to; count += 1) next.add(sum + count);
    sums = next;
  }
  return new Set([0, 1, 2, 3, 4].filter((count) => sums.has(rest - count)));
}

test('a count under five has at least two possible values, unless every other count is withheld as well', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 7 }), (counts) => {
      const published = publishedCounts(counts);
      const total = counts.reduce((sum, count) => sum + count, 0);
      for (const [i, count] of published.entries()) {
        if (typeof count === 'number') expect(count).toBe(counts[i]);
        else expect(count === 'fewer_than_5').toBe((counts[i] ?? 0) < 5);
      }
      if (!published.includes('fewer_than_5')) expect(published).toEqual(counts);
      else if (published.some((count) => typeof count === 'number'))
        expect(possibleSmallCounts(published, total).size).toBeGreaterThan(1);
    }),
  );
});

test('counts under five have one rank', () => {
  expect([0, 4, 5, 6].map(rankOf)).toEqual([0, 0, 5, 6]);
});
