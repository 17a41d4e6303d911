import { maxLabelerGaps } from '../../../artifact/labelers.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { coverageTolerance } from '../../../store/coverage-rule.ts';
import type { StoredGap } from '../../../store/port.ts';
import { type Interval, micros } from '../../../store/time.ts';

/** Interval of the window in which a labeler was not read. */
export interface UnreadGap extends Interval {
  readonly reason: GapReason;
}

/** Input for computing the unread time of a labeler. */
interface UnreadInputs {
  readonly window: Interval;
  /** Start of the retained time. */
  readonly floor: Micros;
  /** Gaps of the labeler, of its departure and of the instrument. */
  readonly gaps: readonly StoredGap[];
  readonly firstAnswered: Micros | null;
  readonly lastAnswered: Micros | null;
}

/**
 * Returns the time in the window in which a labeler was not read: its gaps, the time before its first response or
 * before `floor`, and the time since its last response if this time exceeds the tolerance. Sorted by start, disjoint
 * per reason.
 */
export function unreadTime({ window, floor, gaps, firstAnswered, lastAnswered }: UnreadInputs): UnreadGap[] {
  const begin = micros(Math.min(window.end, Math.max(firstAnswered ?? window.end, floor)));
  const all: UnreadGap[] = [...gaps, { start: window.start, end: begin, reason: 'not_observed' }];
  if (lastAnswered !== null && window.end - lastAnswered > coverageTolerance) {
    all.push({ start: lastAnswered, end: window.end, reason: 'source_unavailable' });
  }
  return joinedByReason(all, window);
}

/** Returns the parts of gaps in the window, sorted by start. Gaps of one reason that overlap or touch are merged. */
function joinedByReason(gaps: readonly UnreadGap[], window: Interval): UnreadGap[] {
  const clipped: { start: Micros; end: Micros; readonly reason: GapReason }[] = [];
  for (const { start, end, reason } of gaps) {
    if (start >= window.end || end <= window.start) continue;
    clipped.push({ start: micros(Math.max(start, window.start)), end: micros(Math.min(end, window.end)), reason });
  }
  clipped.sort((a, b) => a.start - b.start || a.end - b.end || (a.reason < b.reason ? -1 : 1));
  const last = new Map<GapReason, (typeof clipped)[number]>();
  return clipped.filter((gap) => {
    const before = last.get(gap.reason);
    if (before === undefined || gap.start > before.end) {
      last.set(gap.reason, gap);
      return true;
    }
    before.end = micros(Math.max(before.end, gap.end));
    return false;
  });
}

/** Returns disjoint intervals, sorted by start. Intervals that overlap or touch are merged. */
export function merged(intervals: readonly Interval[]): Interval[] {
  const result: { start: Micros; end: Micros }[] = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last && start <= last.end) last.end = micros(Math.max(last.end, end));
    else result.push({ start, end });
  }
  return result;
}

const precision = 10_000;

/**
 * Returns the share of each part that no interval covers, with four decimals. A share between 0 and 1 is never rounded
 * to 0 or 1, because both are exact statements.
 */
export function readShares(parts: readonly Interval[], unread: readonly Interval[]): number[] {
  const gaps = merged(unread);
  let first = 0;
  return parts.map(({ start, end }) => {
    while ((gaps[first]?.end ?? Number.POSITIVE_INFINITY) <= start) first += 1;
    let covered = 0;
    for (let i = first; i < gaps.length; i += 1) {
      const gap = gaps[i];
      if (gap === undefined || gap.start >= end) break;
      covered += Math.min(gap.end, end) - Math.max(gap.start, start);
    }
    const length = end - start;
    if (covered === 0) return 1;
    if (covered >= length) return 0;
    return Math.min(precision - 1, Math.max(1, Math.round((1 - covered / length) * precision))) / precision;
  });
}

/** Gaps as they are published. */
interface ListedGaps {
  readonly gaps: readonly UnreadGap[];
  /** True if gaps were merged, so that the list overstates the unread time. */
  readonly overflow: boolean;
}

/**
 * Returns at most `limit` gaps. Above the limit, merges the gaps with the shortest time between them. Merged gaps of
 * different reasons have the reason `unknown`.
 */
export function listedGaps(gaps: readonly UnreadGap[], limit = maxLabelerGaps): ListedGaps {
  if (gaps.length <= limit) return { gaps, overflow: false };
  const blocks: { start: Micros; end: Micros; reason: GapReason }[] = [];
  for (const { start, end, reason } of gaps) {
    const last = blocks.at(-1);
    if (last && start <= last.end) join(last, { start, end, reason });
    else blocks.push({ start, end, reason });
  }
  // Keep the blocks with the longest times between them separate, and merge the others.
  const between = blocks.slice(1).map(({ start }, i) => ({ at: i + 1, length: start - (blocks[i]?.end ?? start) }));
  const kept = new Set(
    between
      .toSorted((a, b) => b.length - a.length || a.at - b.at)
      .slice(0, limit - 1)
      .map(({ at }) => at),
  );
  const result: { start: Micros; end: Micros; reason: GapReason }[] = [];
  for (const [at, block] of blocks.entries()) {
    const last = result.at(-1);
    if (last && !kept.has(at)) join(last, block);
    else result.push({ ...block });
  }
  return { gaps: result, overflow: true };
}

function join(into: { end: Micros; reason: GapReason }, { end, reason }: UnreadGap): void {
  into.end = micros(Math.max(into.end, end));
  if (into.reason !== reason) into.reason = 'unknown';
}
