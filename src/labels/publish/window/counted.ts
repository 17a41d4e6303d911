import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Counted } from '../../repeats/counted.ts';
import type { DayCounts } from './day-counts.ts';

/** Counts by labeler in the parts of an interval. */
export type CountedParts = readonly { readonly day: number; readonly counts: DayCounts }[];

/**
 * Sums the counts of parts by labeler, largest first and then by DID. Omits labelers without counted events. Yields to
 * the event loop after each part.
 */
export async function sumCounts(parts: CountedParts): Promise<Counted> {
  const sums = new Map<string, { labeler: string; events: number; repeats: number }>();
  for (const { counts } of parts) {
    for (const [labeler, { applied, removed, repeats }] of counts) {
      const sum = sums.get(labeler) ?? { labeler, events: 0, repeats: 0 };
      sum.events += applied + removed;
      sum.repeats += repeats;
      sums.set(labeler, sum);
    }
    await nextTurn();
  }
  const all = [...sums.values()];
  const counts = all
    .filter(({ events }) => events > 0)
    .map(({ labeler, events }) => ({ labeler, events }))
    .sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1));
  const leftOut = all.reduce((sum, { repeats }) => sum + repeats, 0);
  return { counts, leftOut, labelers: all.filter(({ repeats }) => repeats > 0).length };
}
