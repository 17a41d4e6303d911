import type { Micros } from '../../../src/contract/timestamp.ts';
import { type Interval, micros } from '../../../src/store/time.ts';

/**
 * Times in a proof that determine which parts of each labeler's activity the instrument could observe. They use the
 * clock that the simulated network and the instrument share.
 */
export interface Course {
  /** Start of the instrument's epoch. */
  readonly startedUs: Micros;
  /** True if a second instrument observes the same labelers. */
  readonly hasStandby: boolean;
  /** Times at which all readable labels were stored, oldest first. */
  readonly settledUs: Micros[];
  /** Interval in which every responding labeler was read for the first time. */
  begun: Interval;
  /** Interval that contains the interruption of the instrument; null until the interruption happens. */
  paused: Interval | null;
  /** Interval in which the injected faults took effect; null until then. */
  disturbed: Interval | null;
  /**
   * Outage of some labelers. Null before the outage begins, and again after the labels emitted during the outage have
   * been read.
   */
  outage: Interval | null;
  /** Interval in which the late labelers were discovered; null until then. */
  found: Interval | null;
  /** Interval in which some labelers were removed from the directory; null until then. */
  left: Interval | null;
}

/** Creates the course of a proof whose instrument has just started. */
export function courseFrom(startedUs: Micros, hasStandby: boolean): Course {
  const begun = { start: startedUs, end: startedUs };
  return {
    startedUs,
    hasStandby,
    settledUs: [],
    begun,
    paused: null,
    disturbed: null,
    outage: null,
    found: null,
    left: null,
  };
}

/** Returns the first time at or after `us` at which all labels were stored, or `now` if there is none. */
export function settledAfter({ settledUs }: Course, us: number, now: Micros): Micros {
  return settledUs.find((at) => at >= us) ?? now;
}

/** Time during which the instrument did not read a labeler. */
export interface Unread {
  /** Intervals in which the labeler was certainly not read. */
  readonly certain: readonly Interval[];
  /** Intervals that may contain time in which the labeler was not read. */
  readonly possible: readonly Interval[];
}

/** Returns the minimum and maximum share of an interval during which the labeler was read. */
export function shareRange(
  { certain, possible }: Unread,
  part: Interval,
): { readonly min: number; readonly max: number } {
  const length = part.end - part.start;
  if (length <= 0) return { min: 0, max: 1 };
  const share = (unread: readonly Interval[]): number => 1 - covered(unread, part) / length;
  return { min: share([...certain, ...possible]), max: share(certain) };
}

/** Returns the total length of the intervals' union within `part`, in microseconds. */
function covered(intervals: readonly Interval[], part: Interval): number {
  let sum = 0;
  let through: number = part.start;
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    const until = Math.min(end, part.end);
    sum += Math.max(0, until - Math.max(start, through));
    through = Math.max(through, until);
  }
  return sum;
}

/** Returns an interval that is extended by `by` microseconds on both sides. */
export function widened({ start, end }: Interval, by: number): Interval {
  return { start: micros(start - by), end: micros(end + by) };
}
