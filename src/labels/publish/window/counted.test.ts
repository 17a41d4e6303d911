import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CountedParts, CountSums } from './counted.ts';
import type { DayCounts } from './day-counts.ts';

const labelers = ['did:web:a', 'did:web:b', 'did:web:c'];
const count = fc.record({
  applied: fc.nat(5),
  removed: fc.nat(5),
  repeats: fc.nat(2),
  hours: fc.constant(0),
});
const dayCounts = fc
  .dictionary(fc.constantFrom(...labelers), count)
  .map((all): DayCounts => new Map(Object.entries(all)));
/** Generates changes of an interval: a new day at the end, or new counts of the first, the last or an inner day. */
const change = fc.tuple(fc.constantFrom('next', 'first', 'last', 'inner', 'none'), dayCounts);

test('cached sums over an interval equal uncached sums while the days of the interval change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(dayCounts, { minLength: 1, maxLength: 5 }),
      fc.array(change, { maxLength: 6 }),
      async (start, changes) => {
        const sums = new CountSums();
        let days = start;
        for (const [kind, counts] of [['none', new Map()] as const, ...changes]) {
          if (kind === 'next') days = [...days.slice(1), counts];
          else if (kind === 'first') days = days.with(0, counts);
          else if (kind === 'last') days = days.with(-1, counts);
          else if (kind === 'inner') days = days.with(Math.floor(days.length / 2), counts);
          const parts: CountedParts = days.map((all, day) => ({ day, counts: all }));
          expect(await sums.of(parts)).toEqual(plain(days));
        }
      },
    ),
    { numRuns: 50 },
  );
});

function plain(days: readonly DayCounts[]) {
  const all = labelers.map((labeler) => {
    const own = days.flatMap((counts) => counts.get(labeler) ?? []);
    const events = own.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
    return { labeler, events, repeats: own.reduce((sum, { repeats }) => sum + repeats, 0) };
  });
  const counts = all.filter(({ events }) => events > 0).map(({ labeler, events }) => ({ labeler, events }));
  return {
    counts: counts.sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1)),
    leftOut: all.reduce((sum, { repeats }) => sum + repeats, 0),
    labelers: all.filter(({ repeats }) => repeats > 0).length,
  };
}
