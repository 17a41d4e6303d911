import type { Micros } from '../contract/timestamp.ts';
import type { GapReason } from '../contract/vocabulary.ts';
import type { Frontier, GapChange, StoredGap } from './port.ts';
import type { RosterRow } from './roster.ts';
import { type Interval, micros, minute } from './time.ts';

/** Maximum number of gaps stored per source. */
const maxGapsPerSource = 512;

/**
 * Returns the gaps of one source after a change. Overlapping and touching gaps with the same reason are merged. While
 * more gaps remain than permitted, the two closest gaps become one `unknown` gap: the result may overstate the missed
 * time, but never understates it. If the source already has more gaps than the change permits, their number does not
 * increase.
 */
export function changedGaps(gaps: readonly StoredGap[], { kind, gap, maxGaps }: GapChange): StoredGap[] {
  if (kind === 'withdraw') return withoutGap(gaps, gap);
  const limit = Math.min(Math.max(maxGaps ?? maxGapsPerSource, gaps.length), maxGapsPerSource);
  let merged = coalesce([...gaps, gap]);
  while (merged.length > limit) merged = coalesce(joinNearest(merged));
  return merged;
}

/**
 * Removes the interval of `cut` from the gaps of one source that have the same reason. Keeps `unknown` gaps, which
 * earlier merges created.
 */
export function withoutGap(gaps: readonly StoredGap[], cut: StoredGap): StoredGap[] {
  return gaps.flatMap((gap) => {
    if (gap.reason !== cut.reason || gap.end <= cut.start || gap.start >= cut.end) return [gap];
    return [
      { ...gap, end: micros(Math.min(gap.end, cut.start)) },
      { ...gap, start: micros(Math.max(gap.start, cut.end)) },
    ].filter(({ start, end }) => start < end);
  });
}

/** A gap as both stores keep it in a row of their table. */
export interface GapRow {
  readonly source: string;
  readonly started: Micros;
  readonly ended: Micros;
  readonly reason: GapReason;
}

/** Source name that stands for the whole instrument in stored gaps. */
export const everySource = '';

/** Returns the gap in a row of the table. */
export function gapOf({ source, started, ended, reason }: GapRow): StoredGap {
  return { source: source === everySource ? null : source, start: started, end: ended, reason };
}

/** Returns the gaps that are not among other gaps of the same source. */
export function gapsWithout(gaps: readonly StoredGap[], others: readonly StoredGap[]): StoredGap[] {
  const keys = new Set(others.map((gap) => `${gap.start} ${gap.end} ${gap.reason}`));
  return gaps.filter((gap) => !keys.has(`${gap.start} ${gap.end} ${gap.reason}`));
}

/** Returns the gaps sorted by start, with overlapping and touching gaps of the same source and reason merged. */
export function coalesce(gaps: readonly StoredGap[]): StoredGap[] {
  const open = new Map<string, number>();
  const result: StoredGap[] = [];
  for (const gap of sorted(gaps)) {
    const key = `${gap.source} ${gap.reason}`;
    const at = open.get(key);
    const last = at === undefined ? undefined : result[at];
    if (at !== undefined && last && gap.start <= last.end) {
      result[at] = { ...last, end: micros(Math.max(last.end, gap.end)) };
    } else {
      open.set(key, result.length);
      result.push(gap);
    }
  }
  return result;
}

/** Returns the parts of the gaps that are within the interval. */
export function clip(gaps: readonly StoredGap[], { start, end }: Interval): StoredGap[] {
  return gaps
    .filter((gap) => gap.start < end && gap.end > start)
    .map((gap) => {
      // Most gaps lie in the interval, and copies of hundreds of thousands of them are garbage to collect.
      if (gap.start >= start && gap.end <= end) return gap;
      return { ...gap, start: micros(Math.max(gap.start, start)), end: micros(Math.min(gap.end, end)) };
    });
}

/** Returns the total time in microseconds that is in at least one gap. */
export function gappedTime(gaps: readonly StoredGap[]): number {
  let total = 0;
  let through = Number.NEGATIVE_INFINITY;
  for (const gap of sorted(gaps)) {
    total += Math.max(0, gap.end - Math.max(gap.start, through));
    through = Math.max(through, gap.end);
  }
  return total;
}

/**
 * Compares gaps by start, then by end, reason and source. If gaps differ only in the source, gaps of the whole
 * instrument sort first.
 */
export function compareGaps(a: StoredGap, b: StoredGap): number {
  return a.start - b.start || a.end - b.end || compare(a.reason, b.reason) || compare(a.source ?? '', b.source ?? '');
}

function sorted(gaps: readonly StoredGap[]): StoredGap[] {
  return [...gaps].sort(compareGaps);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function joinNearest(gaps: readonly StoredGap[]): StoredGap[] {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i + 1 < gaps.length; i++) {
    const [a, b] = [gaps[i], gaps[i + 1]];
    if (a && b && b.start - a.end < least) {
      least = b.start - a.end;
      nearest = i;
    }
  }
  const [a, b] = [gaps[nearest], gaps[nearest + 1]];
  if (!a || !b) return [...gaps];
  const joined: StoredGap = {
    source: a.source,
    reason: 'unknown',
    start: a.start,
    end: micros(Math.max(a.end, b.end)),
  };
  return [...gaps.slice(0, nearest), joined, ...gaps.slice(nearest + 2)];
}

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
type SilenceInputs = Pick<Frontier, 'observedThrough' | 'floor'>;

/** Returns the time from the last accepted page to `now`, or null if it does not exceed the tolerance. */
function silenceOf(frontier: SilenceInputs, now: Micros): Interval | null {
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
  const since = completeUntil(row);
  if (since === null) return null;
  const gap: StoredGap = { source: row.did, start: since, end: interval.end, reason: 'source_unavailable' };
  return clip([gap], interval)[0] ?? null;
}

/**
 * Returns the end of the complete data of a labeler that is no longer enrolled. Returns null for an enrolled labeler, and
 * for a labeler that never responded.
 */
export function completeUntil({
  enrolled,
  completeThrough,
  lastAnswered,
}: Pick<RosterRow, 'enrolled' | 'completeThrough' | 'lastAnswered'>): Micros | null {
  return enrolled ? null : (completeThrough ?? lastAnswered);
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
