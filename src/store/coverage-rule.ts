import type { Micros } from '../contract/timestamp.ts';
import { clip } from './gaps.ts';
import type { Frontier, StoredGap } from './port.ts';
import type { RosterRow } from './roster.ts';
import { type Interval, micros, minute } from './time.ts';

/**
 * Coverage rule of the overview, the account page, exports and downloads. Three kinds of time count as unobserved: the
 * time since the last accepted page if it exceeds the tolerance, an interval that begins after the last accepted page
 * however short it is, and, for a labeler that is no longer enrolled, the time after the end of its complete data.
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
  return silence === null ? [] : outside(gaps, silence);
}

/**
 * Returns the unobserved end of an interval that is not after `now`, or null. It is the whole interval if no page was
 * accepted after its start, because the tolerance applies only to intervals that were observed in part.
 */
export function unobservedEnd(frontier: SilenceInputs, { start, end }: Interval, now: Micros): Interval | null {
  if (isUnobserved(frontier, { start })) return { start, end };
  const silence = silenceOf(frontier, now);
  return silence === null || silence.start >= end ? null : { start: silence.start, end };
}

/** Returns true if no page was accepted after the start of an interval. */
export function isUnobserved({ observedThrough, floor }: SilenceInputs, { start }: Pick<Interval, 'start'>): boolean {
  return start >= (observedThrough ?? floor);
}

/**
 * Returns the parts of the unobserved end of an interval that are not already covered by a recorded interruption of the
 * instrument.
 */
export function unobservedGaps(
  frontier: SilenceInputs,
  { interval, now }: { readonly interval: Interval; readonly now: Micros },
  gaps: readonly StoredGap[],
): StoredGap[] {
  const unobserved = unobservedEnd(frontier, interval, now);
  return unobserved === null ? [] : outside(gaps, unobserved);
}

/** Returns a gap for each part of an unobserved interval that is in no recorded interruption of the instrument. */
function outside(gaps: readonly StoredGap[], unobserved: Interval): StoredGap[] {
  return uncovered(
    unobserved,
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
