import type { Micros } from '../../../src/contract/timestamp.ts';
import { type Interval, micros } from '../../../src/store/time.ts';

/**
 * Instants of a proof that determine what the instrument could observe of each labeler. The clock is that of the
 * simulated network, which the instrument shares.
 */
export interface Course {
  /** Start of the instrument's epoch. */
  readonly startedUs: Micros;
  /** Instants at which all readable labels were stored, oldest first. */
  readonly settledUs: Micros[];
  /** Interval in which every labeler that responds was read for the first time. */
  begun: Interval;
  /** Interval that contains the interruption of the instrument; null before it. */
  paused: Interval | null;
  /** Interval in which the faults of the roles took effect; null before it. */
  disturbed: Interval | null;
  /** Outage of some labelers; null before it and after its labels were read. */
  outage: Interval | null;
  /** Interval in which the late labelers were found; null before it. */
  found: Interval | null;
  /** Interval in which some labelers were removed from the directory; null before it. */
  left: Interval | null;
}

/** Creates the course of an instrument that has started. */
export function courseFrom(startedUs: Micros): Course {
  const begun = { start: startedUs, end: startedUs };
  return { startedUs, settledUs: [], begun, paused: null, disturbed: null, outage: null, found: null, left: null };
}

/** Returns the first instant at or after `us` at which all labels were stored; `now` if there is none. */
export function settledAfter({ settledUs }: Course, us: number, now: Micros): Micros {
  return settledUs.find((at) => at >= us) ?? now;
}

/** Time that an instrument did not read a labeler. */
export interface Unread {
  /** Intervals in which the labeler was not read at any instant. */
  readonly certain: readonly Interval[];
  /** Intervals in which the labeler may have been read in part. */
  readonly possible: readonly Interval[];
}

/** Returns the minimum and maximum share of an interval that was read. */
export function shareRange(
  { certain, possible }: Unread,
  part: Interval,
): { readonly min: number; readonly max: number } {
  const length = part.end - part.start;
  if (length <= 0) return { min: 0, max: 1 };
  const share = (unread: readonly Interval[]): number => 1 - covered(unread, part) / length;
  return { min: share([...certain, ...possible]), max: share(certain) };
}

/** Returns the length of the union of intervals within a part, in microseconds. */
export function covered(intervals: readonly Interval[], part: Interval): number {
  let sum = 0;
  let through: number = part.start;
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    const until = Math.min(end, part.end);
    sum += Math.max(0, until - Math.max(start, through));
    through = Math.max(through, until);
  }
  return sum;
}

/** Returns an interval that extends another by a time on both sides. */
export function widened({ start, end }: Interval, by: number): Interval {
  return { start: micros(start - by), end: micros(end + by) };
}
