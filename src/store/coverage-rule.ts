import type { Micros } from '../contract/timestamp.ts';
import { clip } from './gaps.ts';
import type { Frontier, StoredGap } from './port.ts';
import type { RosterRow } from './roster.ts';
import { type Interval, micros, minute } from './time.ts';

/**
 * Coverage rule of the overview, the account page, exports and downloads. Two kinds of time count as unobserved: the
 * time since the last accepted page if it exceeds the tolerance, and, for a labeler that is no longer enrolled, the
 * time after the end of its complete data.
 */

/**
 * Maximum time after the last accepted page that does not count as a gap, in microseconds: 10 minutes. The instrument
 * confirms a quiet stream at shorter intervals.
 */
export const coverageTolerance = 10 * minute;

/**
 * Returns true if no page was accepted for longer than the tolerance. Until the first page is accepted, the time is
 * counted from `floor`.
 */
export function isSilent({ observedThrough, floor }: SilenceInputs, now: Micros): boolean {
  return now - (observedThrough ?? floor) > coverageTolerance;
}

/** Part of a frontier that the coverage rule uses. */
export type SilenceInputs = Pick<Frontier, 'observedThrough' | 'floor'>;

/** Returns the time from the last accepted page to `now`, or null if it does not exceed the tolerance. */
export function silenceOf(frontier: SilenceInputs, now: Micros): Interval | null {
  return isSilent(frontier, now) ? { start: frontier.observedThrough ?? frontier.floor, end: now } : null;
}

/**
 * Returns the parts of the current silence that are not already covered by a recorded interruption of the instrument.
 */
export function silentGaps(frontier: SilenceInputs, now: Micros, gaps: readonly StoredGap[]): StoredGap[] {
  const silence = silenceOf(frontier, now);
  if (silence === null) return [];
  return uncovered(
    silence,
    gaps.filter(({ source }) => source === null),
  ).map((part) => ({ ...part, source: null, reason: 'source_unavailable' }));
}

/**
 * Returns the gap of a labeler that is no longer enrolled: from the end of its complete data to the end of the
 * interval. Returns null for an enrolled labeler, for a labeler that never responded, and if the interval ends
 * before the gap begins.
 */
export function departureGap(
  row: Pick<RosterRow, 'did' | 'enrolled' | 'completeThrough' | 'lastAnswered'>,
  interval: Interval,
): StoredGap | null {
  if (row.enrolled) return null;
  const since = row.completeThrough ?? row.lastAnswered;
  if (since === null) return null;
  const gap: StoredGap = { source: row.did, start: since, end: interval.end, reason: 'source_unavailable' };
  return clip([gap], interval)[0] ?? null;
}

/** Returns the parts of an interval that are not in any gap. */
export function uncovered({ start, end }: Interval, gaps: readonly Interval[]): Interval[] {
  const parts: Interval[] = [];
  let from = start;
  for (const gap of gaps.toSorted((a, b) => a.start - b.start)) {
    if (gap.start >= end) break;
    if (gap.start > from) parts.push({ start: from, end: gap.start });
    from = micros(Math.max(from, gap.end));
  }
  if (from < end) parts.push({ start: from, end });
  return parts;
}
