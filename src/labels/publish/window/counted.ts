import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Counted } from '../../repeats/counted.ts';
import type { DayCounts } from './day-counts.ts';

/** Counts by labeler in the parts of an interval. */
export type CountedParts = readonly { readonly day: number; readonly counts: DayCounts }[];

interface Sum {
  readonly events: number;
  readonly repeats: number;
}

/** Sums of counts over an interval. The sum of the parts that did not change since the last call is cached. */
export class CountSums {
  #days: readonly DayCounts[] = [];
  #sums: ReadonlyMap<string, Sum> = new Map();

  /**
   * Sums the counts of the parts by labeler, sorted by count in descending order and then by DID. Omits labelers
   * without counted events. Yields to the event loop after each part that it adds.
   */
  async of(parts: CountedParts): Promise<Counted> {
    // Cache only the sum of the inner parts, because the first part becomes shorter and the last one longer with every
    // call.
    const inner = parts.slice(1, -1).map(({ counts }) => counts);
    if (inner.length !== this.#days.length || inner.some((counts, i) => counts !== this.#days[i])) {
      this.#sums = await added(new Map(), inner);
      this.#days = inner;
    }
    const ends = parts.length > 1 ? [parts.at(0), parts.at(-1)] : [parts.at(0)];
    const sums = await added(
      new Map(this.#sums),
      ends.flatMap((part) => part?.counts ?? []),
    );
    const counts = [...sums]
      .filter(([, { events }]) => events > 0)
      .map(([labeler, { events }]) => ({ labeler, events }))
      .sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1));
    const repeated = [...sums.values()].filter(({ repeats }) => repeats > 0);
    return { counts, leftOut: repeated.reduce((sum, { repeats }) => sum + repeats, 0), labelers: repeated.length };
  }
}

async function added(sums: Map<string, Sum>, days: readonly DayCounts[]): Promise<Map<string, Sum>> {
  for (const counts of days) {
    for (const [labeler, { applied, removed, repeats }] of counts) {
      const sum = sums.get(labeler);
      const events = applied + removed;
      sums.set(labeler, sum ? { events: sum.events + events, repeats: sum.repeats + repeats } : { events, repeats });
    }
    await nextTurn();
  }
  return sums;
}
