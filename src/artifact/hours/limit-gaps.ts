/** A gap, in any unit of time. Only gaps with the same key may be joined. */
export interface KeyedGap {
  readonly from: number;
  readonly to: number;
  readonly key: string;
}

/** Result of limiting gaps to a maximum number. */
interface LimitedGaps<G> {
  /** Gaps sorted by start, then by key. */
  readonly gaps: readonly G[];
  /** True if distinct gaps were joined because there were too many; the unobserved time is then overstated. */
  readonly overflow: boolean;
}

/**
 * Initial maximum distance between gaps that are joined, in the unit of the gaps: one second if the unit is a
 * microsecond.
 */
const firstTolerance = 1_000_000;

/**
 * Returns at most `limit` gaps. Gaps with the same key that overlap or adjoin are always joined. If more than `limit`
 * gaps remain, joins gaps with the same key that are close to each other, and doubles the permitted distance until
 * the limit is met. The limit must not be lower than the number of keys; otherwise the function never returns.
 */
export function limitGaps<G extends KeyedGap>(gaps: readonly G[], limit: number): LimitedGaps<G> {
  let joined = joinedWithin(gaps, 0);
  for (let tolerance = firstTolerance; joined.length > limit; tolerance *= 2) joined = joinedWithin(gaps, tolerance);
  const overflow = joined.length < joinedWithin(gaps, 0).length;
  return { gaps: joined, overflow };
}

function joinedWithin<G extends KeyedGap>(gaps: readonly G[], tolerance: number): G[] {
  const last = new Map<string, number>();
  const result: G[] = [];
  for (const gap of gaps.toSorted(byStart)) {
    const at = last.get(gap.key);
    const before = at === undefined ? undefined : result[at];
    if (at !== undefined && before && gap.from - before.to <= tolerance) {
      result[at] = { ...before, to: Math.max(before.to, gap.to) };
    } else {
      last.set(gap.key, result.length);
      result.push(gap);
    }
  }
  return result;
}

function byStart(a: KeyedGap, b: KeyedGap): number {
  return a.from - b.from || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
