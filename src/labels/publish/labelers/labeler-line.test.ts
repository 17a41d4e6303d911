import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { micros, minute } from '../../../store/time.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import { byPublishedCount, LabelerMemory, publishedCounts, publishedSum } from './labeler-line.ts';
import type { UnreadGap } from './listed-labeler.ts';

type PublishedCount = Parameters<typeof byPublishedCount>[0];

test.each<{ counts: number[]; published: PublishedCount[] }>([
  { counts: [7], published: [7] },
  { counts: [3], published: ['fewer_than_5'] },
  { counts: [12, 4, 0], published: [12, 'fewer_than_5', 'fewer_than_5'] },
  { counts: [1, 0, 0], published: ['fewer_than_5', 'fewer_than_5', 'fewer_than_5'] },
  { counts: [100, 50, 2], published: [100, null, null] },
  { counts: [50, 5, 5, 3], published: [50, null, null, null] },
  { counts: [12, 0, 0], published: [null, null, null] },
  { counts: [60, 4, 4], published: [null, null, null] },
  { counts: [4, 4], published: [null, null] },
])('the counts $counts are published as $published', ({ counts, published }) => {
  expect(publishedCounts(counts)).toEqual(published);
});

test('a published number is an exact count of at least five, and a published word stands for a count under five', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 7 }), (counts) => {
      for (const [i, published] of publishedCounts(counts).entries()) {
        if (typeof published === 'number') expect([published, published >= 5]).toEqual([counts[i], true]);
        else if (published !== null) expect(counts[i]).toBeLessThan(5);
      }
    }),
  );
});

/** Yields all lists of `length` counts with a total. */
function* distributions(total: number, length: number): Generator<number[]> {
  if (length === 1) yield [total];
  else
    for (let first = 0; first <= total; first += 1) {
      for (const others of distributions(total - first, length - 1)) yield [first, ...others];
    }
}

describe.each([2, 3, 4, 5, 6])('a reader who knows the rule, the total and the form of %i counts', (length) => {
  test.each([1, 2, 4, 5, 6, 8, 9, 12, 13, 16, 20])('cannot derive an unpublished count from a total of %i', (total) => {
    const possible = new Map<string, Set<number>[]>();
    for (const counts of distributions(total, length)) {
      const form = publishedCounts(counts).join();
      const sets = possible.get(form) ?? counts.map(() => new Set<number>());
      possible.set(form, sets);
      for (const [i, count] of counts.entries()) sets[i]?.add(count);
    }
    for (const [form, sets] of possible) {
      for (const [i, published] of form.split(',').entries()) {
        const values = [...(sets[i] ?? [])];
        const isWithheld = published === '';
        if (isWithheld)
          expect([form, values.some((count) => count < 5), values.some((count) => count >= 5)]).toEqual([
            form,
            true,
            true,
          ]);
        else if (published === 'fewer_than_5') expect([form, values.length > 1]).toEqual([form, true]);
      }
    }
  });
});

test('the order of values depends only on published counts', () => {
  const counts: PublishedCount[] = [null, 7, 'fewer_than_5', 90, null];
  expect(counts.toSorted(byPublishedCount)).toEqual([90, 7, null, 'fewer_than_5', null]);
});

test('the sum of several counts is withheld if one of the counts is not exact', () => {
  expect(publishedSum([7])).toBe(7);
  expect(publishedSum(['fewer_than_5'])).toBe('fewer_than_5');
  expect(publishedSum([7, 6])).toBe(13);
  expect(publishedSum([7, 'fewer_than_5'])).toBeNull();
  expect(publishedSum([7, null])).toBeNull();
});

const reasons = ['source_unavailable', 'not_observed', 'unknown'] as const;

/** Disjoint gaps, in order. */
const gaps = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), fc.constantFrom(...reasons)), {
    maxLength: 20,
  })
  .map((steps) => {
    let at = 0;
    return steps.map(([pause, length, reason]): UnreadGap => {
      const start = micros((at + pause) * minute);
      at += pause + length;
      return { start, end: micros(at * minute), reason };
    });
  });

test('gaps are written identically with a fresh and a used cache', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(gaps, fc.integer({ min: 0, max: 1_500 })), { maxLength: 6 }), (publications) => {
      const memory = new LabelerMemory();
      for (const [unread, room] of publications) {
        const written = memory.gaps.within(unread, room, room);
        expect(written).toEqual(new LabelerMemory().gaps.within(unread, room, room));
        expect(written.bytes).toBe(written.text === '[]' ? 0 : written.text.length);
      }
    }),
  );
});

test('a timestamp is formatted correctly, no matter which timestamp was cached before', () => {
  const memory = new LabelerMemory();
  for (const at of [0, minute, minute, 0]) {
    expect(memory.stamp('last_row', micros(at))).toBe(new Date(at / 1000).toISOString());
  }
});

test('the counts of a day are looked up again only if the day changed or moved to a different place in the list', () => {
  const memory = new LabelerMemory();
  const count: DayCount = { applied: 1, removed: 2, repeats: 0, hours: 1 };
  const first: DayCounts = new Map([['did:web:a', count]]);
  const second: DayCounts = new Map();
  const changed: DayCounts = new Map([['did:web:a', { ...count, applied: 5 }]]);
  const spies = [first, second, changed].map((counts) => vi.spyOn(counts, 'get'));
  const lookUps = (): number[] => spies.map(({ mock }) => mock.calls.length);
  expect(memory.countsOf('did:web:a', [first, second])).toEqual([count, undefined]);
  expect(lookUps()).toEqual([1, 1, 0]);
  expect(memory.countsOf('did:web:a', [first, second])).toEqual([count, undefined]);
  expect(lookUps()).toEqual([1, 1, 0]);
  expect(memory.countsOf('did:web:a', [first, changed])).toEqual([count, { ...count, applied: 5 }]);
  expect(lookUps()).toEqual([1, 1, 1]);
  expect(memory.countsOf('did:web:a', [changed])).toEqual([{ ...count, applied: 5 }]);
  expect(lookUps()).toEqual([1, 1, 2]);
});
