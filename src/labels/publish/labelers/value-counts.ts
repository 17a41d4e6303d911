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
 * withheld, until a small count could have at least two values.
 */
export function publishedCounts(counts: readonly number[]): PublishedCount[] {
  const published = counts.map((count): PublishedCount => (count < minExact ? fewerThanFive : count));
  const exact = [...counts.keys()].filter((i) => (counts[i] ?? 0) >= minExact);
  exact.sort((a, b) => (counts[a] ?? 0) - (counts[b] ?? 0));
  const small = counts.length - exact.length;
  const total = counts.reduce((sum, count) => sum + count, 0);
  for (let withheld = 0; withheld < exact.length; withheld += 1) {
    const listed = exact.slice(withheld).map((i) => counts[i] ?? 0);
    const rest = total - listed.reduce((sum, count) => sum + count, 0);
    if (!isRevealed({ rest, small, withheld, smallestListed: listed[0] ?? rest })) break;
    published[exact[withheld] ?? -1] = null;
  }
  return published;
}

/** Numbers from which a reader can derive the range of a small count. */
interface Derivation {
  /** Sum of all counts that are not published exactly. */
  readonly rest: number;
  /** Number of counts under five. */
  readonly small: number;
  /** Number of counts from five on that are not published; each is at most the smallest published one. */
  readonly withheld: number;
  readonly smallestListed: number;
}

/** Returns true if only one number is possible for a small count. */
function isRevealed({ rest, small, withheld, smallestListed }: Derivation): boolean {
  if (small === 0) return false;
  const least = rest - (small - 1) * (minExact - 1) - withheld * smallestListed;
  const most = rest - withheld * minExact;
  return Math.min(minExact - 1, most) <= Math.max(0, least);
}
