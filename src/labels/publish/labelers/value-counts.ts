import { fewerThanFive } from '../../../contract/labeler-vocabulary.ts';
import type { LabelerCounters } from '../../../store/labeler-counters.ts';

/** A published count: the exact number, `fewer_than_5`, or null if the count is withheld. */
export type PublishedCount = number | typeof fewerThanFive | null;

/** Smallest count that is published exactly. */
export const minExact = 5;

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
 * Returns counts in the form in which they are published. The total and this rule are public, so a reader can compute
 * which counts have the same form:
 *
 * 1. If no count is under five, all counts are published.
 * 2. If the total is under five, every count is `fewer_than_5`.
 * 3. If two counts under five differ, all counts under five are `fewer_than_5`, and the other counts are published.
 * 4. Otherwise all counts under five are withheld, as is the smallest of the other counts and every count equal to it.
 *
 * A reader cannot derive any unpublished count, except zeros from a total of zero, and a single count from the total.
 * The rule does not depend on the order of the counts: exchanging two counts of one form gives the same form and total.
 * In case 2, any distribution of the total has the same form. In case 3, an unpublished count can have the value of any
 * count under five, and at least two of these differ. In case 4, a withheld count can have the value of any withheld
 * count, under five or not; if all counts are withheld, one of them can also be the total and all others zero.
 */
export function publishedCounts(counts: readonly number[]): PublishedCount[] {
  const small = counts.filter((count) => count < minExact);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total < minExact) return counts.map(() => fewerThanFive);
  const isMixed = small.some((count) => count !== small[0]);
  if (isMixed || small.length === 0) return counts.map((count) => (count < minExact ? fewerThanFive : count));
  const smallestOther = Math.min(...counts.filter((count) => count >= minExact));
  return counts.map((count) => (count <= smallestOther ? null : count));
}

/**
 * Compares published counts: exact counts in descending order, then all others. The order of the others does not
 * depend on their counts, because an order by count would reveal the counts.
 */
export function byPublishedCount(a: PublishedCount, b: PublishedCount): number {
  return (typeof b === 'number' ? b : 0) - (typeof a === 'number' ? a : 0);
}

/**
 * Returns the sum of published counts as a published count. If one of several counts is not exact, the sum is withheld,
 * because it must not reveal more than the published counts do.
 */
export function publishedSum(counts: readonly PublishedCount[]): PublishedCount {
  const [first, ...others] = counts;
  if (others.length === 0) return first ?? null;
  return counts.every((count) => typeof count === 'number') ? counts.reduce((sum, count) => sum + count, 0) : null;
}
