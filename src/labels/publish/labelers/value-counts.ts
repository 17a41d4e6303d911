import { fewerThanFive } from '../../../contract/labeler-vocabulary.ts';
import type { LabelerCounters } from '../../../store/labeler-counters.ts';

/** A count as it is published: exactly, only as small, or not at all. */
export type PublishedCount = number | typeof fewerThanFive | null;

/** Smallest count that is published exactly. */
const minExact = 5;

/** Returns the rank of a count in a list of values. Counts under five have one rank: their order would reveal them. */
export function rankOf(count: number): number {
  return count < minExact ? 0 : count;
}

/** Returns the number of events of each value that is counted by name. */
export function eventsByValue(counters: LabelerCounters | null): ReadonlyMap<string, number> {
  return new Map((counters?.values ?? []).map(({ value, applied, removed }) => [value, applied + removed]));
}

/** Returns the number of events of all values. */
export function allEvents(counters: LabelerCounters | null): number {
  if (counters === null) return 0;
  const named = counters.values.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
  return named + counters.others.applied + counters.others.removed;
}

/**
 * Returns counts in the form in which they are published. A count under five is only named as such. The total is public,
 * so the difference from the other counts could reveal a small one. The smallest of the other counts are therefore
 * withheld, equal ones together, until a small count could have at least two values.
 */
export function publishedCounts(counts: readonly number[]): PublishedCount[] {
  const exact = counts.filter((count) => count >= minExact);
  const small = counts.length - exact.length;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const levels = [...new Set(exact)].sort((a, b) => a - b);
  const level = levels.find((smallestListed) => {
    const listed = exact.filter((count) => count >= smallestListed);
    const rest = total - listed.reduce((sum, count) => sum + count, 0);
    return !isRevealed({ rest, small, withheld: exact.length - listed.length, most: smallestListed - 1 });
  });
  return counts.map((count) => {
    if (count < minExact) return fewerThanFive;
    return level !== undefined && count >= level ? count : null;
  });
}

/** Numbers from which a reader can derive the range of a small count. */
interface Derivation {
  /** Sum of all counts that are not published exactly. */
  readonly rest: number;
  /** Number of counts under five. */
  readonly small: number;
  /** Number of counts from five on that are not published. */
  readonly withheld: number;
  /** Maximum of a count that is not published: all are below the smallest published one. */
  readonly most: number;
}

/** Returns true if only one number is possible for a small count. */
function isRevealed({ rest, small, withheld, most }: Derivation): boolean {
  if (small === 0) return false;
  const smallest = rest - (small - 1) * (minExact - 1) - withheld * most;
  const largest = rest - withheld * minExact;
  return Math.min(minExact - 1, largest) <= Math.max(0, smallest);
}
