import { maxGapsPerLabeler } from '../../contract/account.ts';
import { departureGap } from '../../store/coverage-rule.ts';
import type { StoredGap } from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';
import type { AccountStore } from '../account-store.ts';
import { atMost } from '../coverage.ts';
import { kept } from './kept.ts';
import { overlap, union } from './timeline.ts';

/**
 * Unobserved time of single labelers within the window, equal for every account: a reason why an account may have no
 * rows.
 */
export interface Missed {
  /** Of each labeler as many stretches as its coverage in an export has, sorted and disjoint. */
  readonly byLabeler: ReadonlyMap<string, readonly Interval[]>;
  /** Stretches in which at least one was missed. */
  readonly any: readonly Interval[];
}

/** In numbers, of those that are not told of one by one. */
export interface MissedSum {
  readonly labelers: number;
  /** Microseconds that the one of them that was missed for longest was not observed. */
  readonly longest: number;
}

/** Empty value. */
export const nothingMissed: Missed = { byLabeler: new Map(), any: [] };

/** Maximum stretches of a picture's strip: more would be indistinguishable. */
const maxStretches = 300;

/**
 * Cache lifetime, in milliseconds. Hundreds of labelers may have hundreds of gaps each, and reading them for each page
 * would cost more than the page.
 */
const keptMs = 30_000;

/** Reads it, and keeps it between pages. */
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

/** The sum over the labelers that are not `listed`. */
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

/** Intervals as so many stretches at most as a picture can show: beyond it the nearest are one, and none is hidden. */
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
