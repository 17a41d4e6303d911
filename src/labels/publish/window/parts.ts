import { dayOf, dayStart, type Interval, micros } from '../../../store/time.ts';

/** Part of an interval that lies in one UTC day. */
export interface DayPart extends Interval {
  /** Day, counted since 1970. */
  readonly day: number;
}

/** Returns the parts of an interval by UTC day, oldest first. An empty interval has no parts. */
export function partsOf({ start, end }: Interval): DayPart[] {
  const parts: DayPart[] = [];
  for (let at = start; at < end; at = dayStart(dayOf(at) + 1)) {
    const day = dayOf(at);
    parts.push({ day, start: at, end: micros(Math.min(end, dayStart(day + 1))) });
  }
  return parts;
}

/** Pieces of a part of a day, from which its counts are summed. */
export interface Pieces {
  /** Settled intervals that contain no whole hour. */
  readonly edges: readonly Interval[];
  /** Settled whole hours, counted since 1970. Null if there are no such hours. */
  readonly hours: { readonly from: number; readonly until: number } | null;
  /** Interval to which rows may still be added, or null if the part is settled. */
  readonly open: Interval | null;
}

export function nonEmpty(intervals: readonly Interval[]): Interval[] {
  return intervals.filter(({ start, end }) => start < end);
}
