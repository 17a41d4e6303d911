import { dayOf, dayStart, hour, type Interval, micros } from '../../../store/time.ts';

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

/** Divides a part of a day at `settledThrough`, a whole hour before which counts no longer change. */
export function piecesOf({ start, end }: Interval, settledThrough: number): Pieces {
  const settledEnd = Math.min(end, Math.max(start, settledThrough));
  const open = settledEnd < end ? { start: micros(settledEnd), end } : null;
  const from = Math.ceil(start / hour);
  const until = Math.floor(settledEnd / hour);
  if (from >= until) {
    return { edges: nonEmpty([{ start, end: micros(settledEnd) }]), hours: null, open };
  }
  const edges = nonEmpty([
    { start, end: micros(from * hour) },
    { start: micros(until * hour), end: micros(settledEnd) },
  ]);
  return { edges, hours: { from, until }, open };
}

function nonEmpty(intervals: readonly Interval[]): Interval[] {
  return intervals.filter(({ start, end }) => start < end);
}
