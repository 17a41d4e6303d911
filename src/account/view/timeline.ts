import type { AccountTally, DayCounts, EventCount } from '../../store/account-counts.ts';
import { day as dayLength, dayOf, dayStart, type Interval, micros } from '../../store/time.ts';

/** One UTC day of a timeline, for the chart and the table. */
export interface TimelineDay extends Interval {
  /**
   * Counted observations. Null if the rows were not counted, or if the day was not observed and has no observations.
   */
  readonly counts: EventCount | null;
  /** Time in microseconds for which none of the relevant labelers was observed. */
  readonly unseen: number;
  /** Further time in microseconds for which at least one of the relevant labelers was not observed. */
  readonly partly: number;
}

/** An account's interval, divided into days, with its unobserved time. */
export interface Timeline extends Interval {
  readonly days: readonly TimelineDay[];
  /** Intervals in which none of the relevant labelers was observed. */
  readonly unseen: readonly Interval[];
  /** Other intervals in which at least one of the relevant labelers was not observed. */
  readonly partly: readonly Interval[];
  /** Sum over all counted days. */
  readonly total: EventCount;
  /** Number of days whose rows were not counted. */
  readonly uncounted: number;
}

/** Data for computing a timeline. */
interface TimelineInputs extends Interval {
  /** Available part of the interval. Rows before it have been removed. */
  readonly available: Interval;
  readonly tally: AccountTally;
  /** Gaps in which none of the relevant labelers was observed. */
  readonly whole: readonly Interval[];
  /** Gaps in which at least one of the relevant labelers was not observed. */
  readonly some: readonly Interval[];
}

/**
 * Computes a timeline from counts and unobserved time. For a day that was not observed at all, the counts are null
 * instead of zero.
 */
export function timelineOf({ start, end, available, tally, whole, some }: TimelineInputs): Timeline {
  const unseen = union([...whole, { start, end: available.start }, { start: available.end, end }], { start, end });
  const partly = minus(union(some, { start, end }), unseen);
  const byDay = new Map(tally.days.map((found) => [dayOf(found.start), found.counts]));
  const days: TimelineDay[] = [];
  for (let day = dayOf(start); day <= dayOf(end - 1); day++) {
    const part = {
      start: micros(Math.max(start, dayStart(day))),
      end: micros(Math.min(end, dayStart(day) + dayLength)),
    };
    const unseenOf = overlap(unseen, part);
    const counts = byDay.get(day) ?? null;
    const none =
      counts === null || (unseenOf === part.end - part.start && sum(counts).applied + sum(counts).removed === 0);
    days.push({ ...part, counts: none ? null : sum(counts), unseen: unseenOf, partly: overlap(partly, part) });
  }
  return {
    start,
    end,
    days,
    unseen,
    partly,
    total: days.reduce((total, { counts }) => (counts ? plus(total, counts) : total), nothing),
    uncounted: tally.days.filter(({ counts }) => counts === null).length,
  };
}

const nothing: EventCount = { applied: 0, removed: 0 };

/** Returns the sum of a day's counts over all target kinds. */
function sum({ account, post, record }: DayCounts): EventCount {
  return plus(plus(account, post), record);
}

function plus(a: EventCount, b: EventCount): EventCount {
  return { applied: a.applied + b.applied, removed: a.removed + b.removed };
}

/** Returns the union of intervals, clipped to the bounds, as sorted and disjoint intervals. */
export function union(intervals: readonly Interval[], bounds: Interval): Interval[] {
  const merged: Interval[] = [];
  const clipped = intervals
    .map(({ start, end }) => ({ start: micros(Math.max(start, bounds.start)), end: micros(Math.min(end, bounds.end)) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  for (const next of clipped) {
    const last = merged.at(-1);
    if (last && next.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: micros(Math.max(last.end, next.end)) };
    } else {
      merged.push(next);
    }
  }
  return merged;
}

/** Returns the parts of `intervals` that are not in `taken`. Both must be sorted and disjoint. */
function minus(intervals: readonly Interval[], taken: readonly Interval[]): Interval[] {
  return intervals.flatMap((interval) => {
    const left: Interval[] = [];
    let from = interval.start;
    for (const { start, end } of taken) {
      if (end <= from || start >= interval.end) continue;
      if (start > from) left.push({ start: from, end: start });
      from = micros(Math.max(from, end));
    }
    if (from < interval.end) left.push({ start: from, end: interval.end });
    return left;
  });
}

/** Returns how much of an interval is covered by disjoint intervals, in microseconds. */
export function overlap(intervals: readonly Interval[], { start, end }: Interval): number {
  return intervals.reduce((total, one) => total + Math.max(0, Math.min(one.end, end) - Math.max(one.start, start)), 0);
}
