import { maxGaps } from '../../contract/limits.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import { gapReasons } from '../../contract/vocabulary.ts';
import type { StoredGap } from '../../store/port.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/** Minimum tolerance for joining gaps, in whole minutes. A wider tolerance is used only if there are too many gaps. */
const minToleranceMinutes = 1;

/** Maximum tolerance for joining gaps, in whole minutes. */
export const maxToleranceMinutes = 6 * 60;

/** An interval that at least one source, or the whole instrument, did not observe. */
interface UnionGap extends Interval {
  readonly reason: GapReason;
}

/** Gaps of a window in the form in which they are published. */
interface GapUnion {
  /** Gaps sorted by start, disjoint per reason, inside the window. */
  readonly gaps: readonly UnionGap[];
  /**
   * True if even the widest tolerance gives too many gaps: `gaps` then consists of one `unknown` gap that spans the
   * whole window.
   */
  readonly overflow: boolean;
}

/**
 * Returns the union of gaps of all sources and the interruptions of the instrument, per reason. Gaps of one reason that
 * are at most the tolerance apart are joined, which overstates the missed time but never hides it.
 */
export function unionGaps(stored: readonly StoredGap[], window: Interval, limit = maxGaps): GapUnion {
  // Join the gaps with the smallest tolerance first, which leaves few gaps even for thousands of labelers. Joining
  // these gaps with a wider tolerance gives the same result as joining the original gaps with that tolerance.
  const finest = coalesced(clippedByReason(stored, window), minToleranceMinutes);
  const joined = gapReasons.map((reason) => finest.filter((gap) => gap.reason === reason));
  let [low, high] = [minToleranceMinutes, maxToleranceMinutes];
  if (coalesced(joined, high).length > limit) {
    return { gaps: [{ ...window, reason: 'unknown' }], overflow: true };
  }
  // Find the smallest sufficient tolerance by binary search, because a wider tolerance never gives more gaps.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (coalesced(joined, middle).length > limit) low = middle + 1;
    else high = middle;
  }
  return { gaps: coalesced(joined, low), overflow: false };
}

/** Returns the parts of gaps in the window, by reason, sorted by start. */
function clippedByReason(gaps: readonly UnionGap[], window: Interval): readonly UnionGap[][] {
  const byReason = new Map<GapReason, UnionGap[]>(gapReasons.map((reason) => [reason, []]));
  for (const { start, end, reason } of gaps) {
    if (start >= end || start >= window.end || end <= window.start) continue;
    const from = micros(Math.max(start, window.start));
    byReason.get(reason)?.push({ start: from, end: micros(Math.min(end, window.end)), reason });
  }
  return [...byReason.values()].map((own) => own.sort((a, b) => a.start - b.start));
}

/** Joins the gaps of each reason, which are sorted by start. */
function coalesced(byReason: readonly (readonly UnionGap[])[], toleranceMinutes: number): UnionGap[] {
  const result: UnionGap[] = [];
  for (const own of byReason) {
    let last: { start: Micros; end: Micros; readonly reason: GapReason } | undefined;
    for (const gap of own) {
      if (last && gap.start - last.end <= toleranceMinutes * minute) last.end = micros(Math.max(last.end, gap.end));
      else {
        last = { ...gap };
        result.push(last);
      }
    }
  }
  return result.sort((a, b) => a.start - b.start || a.end - b.end || (a.reason < b.reason ? -1 : 1));
}

/**
 * Gaps of all labelers in a window, joined with the smallest tolerance. The union has few gaps even if there are
 * thousands of labelers.
 */
export class FinestGaps {
  readonly #window: Interval;
  readonly #gaps: StoredGap[] = [];
  readonly #last = new Map<GapReason, { end: Micros }>();

  constructor(window: Interval) {
    this.#window = window;
  }

  /** Joined gaps of the union so far. The source of a joined gap is the source of its first gap. */
  get gaps(): readonly StoredGap[] {
    return this.#gaps;
  }

  /** Adds a gap. Gaps must be added in the order of their starts. */
  add({ source, start, end, reason }: StoredGap): void {
    const window = this.#window;
    if (start >= end || start >= window.end || end <= window.start) return;
    const from = micros(Math.max(start, window.start));
    const until = micros(Math.min(end, window.end));
    const last = this.#last.get(reason);
    if (last && from - last.end <= minToleranceMinutes * minute) {
      last.end = micros(Math.max(last.end, until));
      return;
    }
    const gap: { -readonly [Name in keyof StoredGap]: StoredGap[Name] } = { source, start: from, end: until, reason };
    this.#last.set(reason, gap);
    this.#gaps.push(gap);
  }
}

/** Unread time of a source in a window. */
export interface Missed {
  /** Length in microseconds. */
  missed: number;
  /** End of the last gap that is included. */
  through: number;
}

/** Time in a window that the gaps of each source cover. */
export class GappedTimes {
  readonly bySource = new Map<string, Missed>();
  readonly #window: Interval;

  constructor(window: Interval) {
    this.#window = window;
  }

  /** Adds a gap. Gaps must be added in the order of their starts. */
  add({ source, start, end }: StoredGap): void {
    const window = this.#window;
    if (source === null || start >= window.end || end <= window.start) return;
    const one = this.bySource.get(source) ?? { missed: 0, through: window.start };
    const until = Math.min(end, window.end);
    one.missed += Math.max(0, until - Math.max(start, one.through));
    one.through = Math.max(one.through, until);
    this.bySource.set(source, one);
  }
}
