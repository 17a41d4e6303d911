import { maxGapsPerLabeler } from '../../contract/account.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';
import type { AccountStore } from '../query/account-store.ts';
import { atMost } from '../query/coverage.ts';
import { kept } from './kept.ts';
import { overlap, union } from './timeline.ts';

/**
 * Unobserved time of single labelers within the window, equal for every account: a reason why an account may have no
 * rows.
 */
export interface Missed {
  /** Gaps of each labeler, sorted and disjoint, at most as many as an export lists. */
  readonly byLabeler: ReadonlyMap<string, readonly Interval[]>;
  /** Intervals in which at least one labeler has a gap. */
  readonly any: readonly Interval[];
}

/** Sums over the labelers that are not listed individually. */
export interface MissedSum {
  readonly labelers: number;
  /** Microseconds of missed time of the labeler with the most. */
  readonly longest: number;
}

/** Empty value. */
export const nothingMissed: Missed = { byLabeler: new Map(), any: [] };

/** Maximum number of intervals in a picture's strip: more would be indistinguishable. */
const maxStretches = 300;

/**
 * Cache lifetime, in milliseconds. Hundreds of labelers may have hundreds of gaps each, and reading them for each page
 * would cost more than the page.
 */
const keptMs = 30_000;

/** Returns a cached read of the missed time. */
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

/** Sums over the labelers that are not `listed`. */
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

/** Merges intervals to at most as many as a picture can show, closest first; none is hidden. */
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
