import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelerCount } from '../../../store/account-counts.ts';
import { type Interval, micros, minute } from '../../../store/time.ts';
import type { BurstsByLabeler } from '../../repeats/counted.ts';
import { burstsIn } from '../../repeats/repeat-log.ts';
import type { Run } from './hour-runs.ts';

/** Number of a labeler's events in a part of a day, without bursts of repeats. */
export interface DayCount {
  readonly applied: number;
  readonly removed: number;
  /** Number of rows that are omitted because they repeat known labels. */
  readonly repeats: number;
  /** Bit `h` is set if the labeler has rows, including repeats, in the settled hour `h` of the day. */
  readonly hours: number;
}

/** Counts of an interval that is shorter than an hour or to which rows may still be added. */
export interface EdgeCounts {
  readonly counts: readonly LabelerCount[];
  /** Hour of the day that contains the interval, or null if rows may still be added to the interval. */
  readonly hour: number | null;
}

/** Counts by labeler in a part of a day. */
export type DayCounts = ReadonlyMap<string, DayCount>;

/** Sums the counts of a part of a day and subtracts the bursts of repeats. */
export function dayCounts(
  part: Interval & { readonly floor: Micros },
  run: Run,
  edges: readonly EdgeCounts[],
  bursts: BurstsByLabeler,
): DayCounts {
  if (edges.length === 0) return wholeCounts(part, run, bursts);
  const sums = new Map<string, { applied: number; removed: number; hours: number }>();
  for (const [labeler, { applied, removed, hours }] of run) sums.set(labeler, { applied, removed, hours });
  for (const { counts, hour } of edges) {
    const bit = hour === null ? 0 : 1 << hour;
    for (const { labeler, applied, removed } of counts) {
      const sum = sums.get(labeler);
      if (sum) {
        sum.applied += applied;
        sum.removed += removed;
        sum.hours |= bit;
      } else sums.set(labeler, { applied, removed, hours: bit });
    }
  }
  const interval = wholeMinutes(part);
  const result = new Map<string, DayCount>();
  for (const [labeler, sum] of sums) {
    const own = bursts.get(labeler);
    result.set(labeler, own ? withoutRepeats(sum, burstsIn(own, interval)) : { ...sum, repeats: 0 });
  }
  return result;
}

/** Cache of the counts of runs before repeats are subtracted, because most publications use these counts again. */
const countsOfRuns = new WeakMap<Run, DayCounts>();

/** Returns the counts of a part that consists of one run. */
function wholeCounts(part: Interval & { readonly floor: Micros }, run: Run, bursts: BurstsByLabeler): DayCounts {
  let counts = countsOfRuns.get(run);
  if (counts === undefined) {
    counts = new Map([...run].map(([labeler, count]) => [labeler, { ...count, repeats: 0 }]));
    countsOfRuns.set(run, counts);
  }
  const interval = wholeMinutes(part);
  const changed = [...bursts].flatMap(([labeler, own]) => {
    const count = run.get(labeler);
    const repeats = count === undefined ? 0 : burstsIn(own, interval);
    return count !== undefined && repeats > 0 ? [[labeler, withoutRepeats(count, repeats)] as const] : [];
  });
  return changed.length === 0 ? counts : new Map([...counts, ...changed]);
}

/**
 * Returns the interval in which repeats are counted. Repeats are counted by whole minutes, and all repeats of the
 * minute that contains the floor were accepted after the floor.
 */
function wholeMinutes({ start, end, floor }: Interval & { readonly floor: Micros }): Interval {
  return { start: start === floor ? micros(floor - (floor % minute)) : start, end };
}

/** Subtracts repeats. Reduces applications first, because the store does not know which rows repeat a removal. */
function withoutRepeats(
  { applied, removed, hours }: Pick<DayCount, 'applied' | 'removed' | 'hours'>,
  burst: number,
): DayCount {
  const repeats = Math.min(applied + removed, burst);
  const fromApplied = Math.min(applied, repeats);
  return { applied: applied - fromApplied, removed: removed - (repeats - fromApplied), repeats, hours };
}
