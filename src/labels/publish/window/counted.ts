import type { Counted } from '../../repeats/counted.ts';
import type { CountedParts } from './window-reader.ts';

/** Sums counts of parts by labeler: largest first, then by DID, without labelers that have no counted event. */
export function sumCounts(parts: CountedParts): Counted {
  const sums = new Map<string, { events: number; repeats: number }>();
  for (const { counts } of parts) {
    for (const [labeler, { applied, removed, repeats }] of counts) {
      const sum = sums.get(labeler) ?? { events: 0, repeats: 0 };
      sum.events += applied + removed;
      sum.repeats += repeats;
      sums.set(labeler, sum);
    }
  }
  const all = [...sums].map(([labeler, { events, repeats }]) => ({ labeler, events, repeats }));
  const counts = all
    .filter(({ events }) => events > 0)
    .map(({ labeler, events }) => ({ labeler, events }))
    .sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1));
  const leftOut = all.reduce((sum, { repeats }) => sum + repeats, 0);
  return { counts, leftOut, labelers: all.filter(({ repeats }) => repeats > 0).length };
}
