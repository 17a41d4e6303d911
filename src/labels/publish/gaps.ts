import { maxGaps } from '../../contract/limits.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import { gapReasons } from '../../contract/vocabulary.ts';
import type { StoredGap } from '../../store/port.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/**
 * Range of the tolerance for joining gaps, in whole minutes. The smallest tolerance that gives at most the allowed
 * number of gaps is used.
 */
const minToleranceMinutes = 1;
export const maxToleranceMinutes = 6 * 60;

/** An interval that at least one source, or the whole instrument, did not observe. */
export interface UnionGap extends Interval {
  readonly reason: GapReason;
}

/** Gaps of a window in the form in which they are published. */
export interface GapUnion {
  /** Gaps sorted by start, disjoint per reason, inside the window. */
  readonly gaps: readonly UnionGap[];
  /**
   * True if even the widest tolerance gives too many gaps: `gaps` then consists of one `unknown` gap, the whole window.
   */
  readonly overflow: boolean;
}

/**
 * Returns the union of gaps of all sources and the interruptions of the instrument, per reason. Gaps of one reason
 * closer than the tolerance are joined, which overstates the missed time but never hides it.
 */
export function unionGaps(stored: readonly StoredGap[], window: Interval, limit = maxGaps): GapUnion {
  const clipped = stored
    .map(({ start, end, reason }) => ({
      start: micros(Math.max(start, window.start)),
      end: micros(Math.min(end, window.end)),
      reason,
    }))
    .filter(({ start, end }) => start < end);
  // Join gaps with the smallest tolerance first: every other result is the same, and thousands of labelers leave few.
  const finest = coalesced(clipped, minToleranceMinutes);
  if (finest.length <= limit) return { gaps: finest, overflow: false };
  let [low, high] = [minToleranceMinutes, maxToleranceMinutes];
  if (coalesced(finest, high).length > limit) {
    return { gaps: [{ ...window, reason: 'unknown' }], overflow: true };
  }
  // Find the smallest sufficient tolerance by binary search, because a wider tolerance never gives more gaps.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (coalesced(finest, middle).length > limit) low = middle + 1;
    else high = middle;
  }
  return { gaps: coalesced(finest, low), overflow: false };
}

function coalesced(gaps: readonly UnionGap[], toleranceMinutes: number): UnionGap[] {
  const result: UnionGap[] = [];
  for (const reason of gapReasons) {
    const own = gaps.filter((gap) => gap.reason === reason).sort((a, b) => a.start - b.start);
    let last: UnionGap | undefined;
    for (const gap of own) {
      if (last && gap.start - last.end <= toleranceMinutes * minute) {
        last = { ...last, end: micros(Math.max(last.end, gap.end)) };
        result[result.length - 1] = last;
      } else {
        last = gap;
        result.push(gap);
      }
    }
  }
  return result.sort((a, b) => a.start - b.start || a.end - b.end || (a.reason < b.reason ? -1 : 1));
}
