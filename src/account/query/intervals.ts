import type { StoredGap } from '../../store/port.ts';
import { dayOf, dayStart, type Interval, micros } from '../../store/time.ts';

/** Splits an interval at midnights into the UTC days that it covers. */
export function daysIn({ start, end }: Interval): Interval[] {
  const days: Interval[] = [];
  for (let from = start; from < end; from = dayStart(dayOf(from) + 1)) {
    days.push({ start: from, end: micros(Math.min(end, dayStart(dayOf(from) + 1))) });
  }
  return days;
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

/** Returns how much of an interval is covered by disjoint intervals, in microseconds. */
export function overlap(intervals: readonly Interval[], { start, end }: Interval): number {
  return intervals.reduce((total, one) => total + Math.max(0, Math.min(one.end, end) - Math.max(one.start, start)), 0);
}

/** A gap of any source. */
export type Stretch = Pick<StoredGap, 'start' | 'end' | 'reason'>;

/** Merges the closest gaps until at most `limit` remain. This may overstate missed time but never understates it. */
export function atMost(gaps: readonly Stretch[], limit: number): Stretch[] {
  const sorted = gaps.toSorted((a, b) => a.start - b.start || a.end - b.end);
  if (sorted.length <= limit) return sorted;
  let through = Number.NEGATIVE_INFINITY;
  const breaks = sorted.map(({ start, end }, index) => {
    const before = start - through;
    through = Math.max(through, end);
    return { index, before };
  });
  const kept = breaks.toSorted((a, b) => b.before - a.before).slice(0, limit);
  const starts = kept.map(({ index }) => index).toSorted((a, b) => a - b);
  return starts.map((from, nth) => joined(sorted.slice(from, starts[nth + 1])));
}

function joined(gaps: readonly Stretch[]): Stretch {
  const reasons = new Set(gaps.map(({ reason }) => reason));
  const [reason] = reasons;
  return {
    start: micros(Math.min(...gaps.map(({ start }) => start))),
    end: micros(Math.max(...gaps.map(({ end }) => end))),
    reason: reasons.size === 1 && reason !== undefined ? reason : 'unknown',
  };
}
