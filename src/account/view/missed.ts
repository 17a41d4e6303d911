import { maxGapsPerLabeler } from '../../contract/account.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';
import type { AccountStore } from '../query/account-store.ts';
import { atMost } from '../query/coverage.ts';
import { kept } from './network.ts';
import { overlap, union } from './timeline.ts';

/** Unobserved time of individual labelers in the window. It is the same for every account. */
export interface Missed {
  /** Gaps of each labeler, sorted and disjoint; at most as many as an export lists. */
  readonly byLabeler: ReadonlyMap<string, readonly Interval[]>;
  /** Intervals in which at least one labeler has a gap. */
  readonly any: readonly Interval[];
}

/** Summary of the missed time of labelers that a page does not list individually. */
export interface MissedSum {
  readonly labelers: number;
  /** Longest missed time of a single labeler, in microseconds. */
  readonly longest: number;
}

/** Value of `Missed` if no labeler has a gap. */
export const nothingMissed: Missed = { byLabeler: new Map(), any: [] };

/** Maximum number of intervals in a chart. More intervals could not be distinguished. */
const maxStretches = 300;

/**
 * Lifetime of cached missed time, in milliseconds. Reading hundreds of gaps for each of hundreds of labelers would cost
 * more than the rest of a page.
 */
const keptMs = 30_000;

/**
 * Returns a cached read of the missed time in a window. `monotonic` returns the time of a monotonic clock in
 * milliseconds.
 */
export function missedOf(monotonic: () => number): (store: AccountStore, window: Interval) => Promise<Missed> {
  return kept({ ms: keptMs, monotonic }, async (store: AccountStore, { start, end }: Interval) => {
    const [gaps, roster] = await Promise.all([store.gaps({ start, end }), store.roster()]);
    const departures = roster.flatMap((row) => departureGap(row, { start, end }) ?? []);
    return gather([...gaps, ...departures], { start, end });
  });
}

function gather(gaps: readonly StoredGap[], window: Interval): Missed {
  const bySource = Map.groupBy(gaps, ({ source }) => source);
  const byLabeler = new Map<string, readonly Interval[]>();
  const all: Interval[] = [];
  for (const [source, own] of bySource) {
    if (source === null) continue;
    const stretches = union(own, window);
    all.push(...stretches);
    byLabeler.set(source, fewer(stretches, maxGapsPerLabeler));
  }
  return { byLabeler, any: stretchesOf(all, window) };
}

/** Summarizes the missed time of all labelers except those in `listed`. */
export function sumOf({ byLabeler }: Missed, listed: ReadonlySet<string>, interval: Interval): MissedSum {
  let labelers = 0;
  let longest = 0;
  for (const [labeler, stretches] of byLabeler) {
    const length = listed.has(labeler) ? 0 : overlap(stretches, interval);
    if (length > 0) labelers += 1;
    longest = Math.max(longest, length);
  }
  return { labelers, longest };
}

/** Merges the closest intervals until at most `maxStretches` remain. The result contains all missed time. */
export function stretchesOf(intervals: readonly Interval[], bounds: Interval): Interval[] {
  return fewer(union(intervals, bounds), maxStretches);
}

function fewer(stretches: readonly Interval[], limit: number): Interval[] {
  return stretches.length <= limit
    ? [...stretches]
    : atMost(
        stretches.map(({ start, end }) => ({ start, end, reason: 'unknown' })),
        limit,
      );
}
