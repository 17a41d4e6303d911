import { fewerThanFive } from '../../../contract/labeler-vocabulary.ts';
import type { LabelerCounters } from '../../../store/labeler-counters.ts';

/** A count as it is published: exactly, only as small, or not at all. */
export type PublishedCount = number | typeof fewerThanFive | null;

/** Smallest count that is published exactly. */
const minExact = 5;

/** Returns the number of events of a value. */
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
 * Returns counts as they are published. A count below five is published only as small. If exactly one count is below
 * five, the difference between the total and the other counts would reveal that count, so the next smallest count is
 * not published.
 */
export function publishedCounts(counts: readonly number[]): PublishedCount[] {
  const published = counts.map((count): PublishedCount => (count < minExact ? fewerThanFive : count));
  if (published.filter((count) => count === fewerThanFive).length !== 1) return published;
  let next = -1;
  for (const [i, count] of counts.entries()) {
    if (count >= minExact && count < (counts[next] ?? Number.POSITIVE_INFINITY)) next = i;
  }
  if (next !== -1) published[next] = null;
  return published;
}
