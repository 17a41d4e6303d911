import type { Micros } from '../contract/timestamp.ts';
import type { EventCount } from './account-counts.ts';
import type { SignatureVerdict } from './label.ts';
import type { Interval } from './time.ts';

/**
 * Upper bounds of the ranges in which delays are counted, in milliseconds, each inclusive. There are six bounds per
 * factor of ten, from 10 ms to 61 h. A last range without a bound follows.
 */
export const delayBounds: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8]
  .flatMap((exponent) => [1, 1.5, 2.2, 3.3, 4.7, 6.8].map((factor) => Math.round(factor * 10 ** exponent)))
  .slice(0, 45);

/** Returns the index of the range that contains a delay in milliseconds; the last range has no bound. */
export function delayRangeOf(delay: number): number {
  let [low, high] = [0, delayBounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (delay <= (delayBounds[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Maximum number of values of a labeler that one day counts by name; the other values are counted together. */
export const maxCountedValues = 256;
/** Maximum length of a value that is counted by name, in bytes of UTF-8, as in the lexicon. */
export const maxCountedValueBytes = 128;

/** Number of applications and of removals of one value. */
export interface ValueCount extends EventCount {
  readonly value: string;
}

/** Counts of one labeler's accepted rows. */
export interface LabelerCounters {
  readonly labeler: string;
  /** Number of rows by the verdict on their signature. */
  readonly verdicts: Readonly<Record<SignatureVerdict, number>>;
  /**
   * Number of rows by value, largest first, then by text; at most `maxCountedValues`. A count is exact if `others` is
   * zero. It is too small by at most `others` if `others` is not zero.
   */
  readonly values: readonly ValueCount[];
  /** Number of rows whose value is not counted by name. */
  readonly others: EventCount;
  /**
   * Number of live rows by the delay from `cts` to acceptance, one count for each range of `delayBounds` and one for
   * longer delays. A negative delay counts as zero. A row without a valid `cts` is not counted.
   */
  readonly delays: readonly number[];
}

/** Counts of all labelers over whole days. */
export interface LabelersCounters {
  /**
   * Earliest instant from which every row of the counted days is included. Earlier rows are counted in part or not at
   * all, because an earlier version accepted them. The instant is the end of the last counted day if an earlier version
   * accepted all rows.
   */
  readonly since: Micros;
  /** Labelers with at least one counted row, by DID. */
  readonly labelers: readonly LabelerCounters[];
}

/** Part of the reader that counts the rows of labelers. */
export interface LabelerCounterReader {
  /**
   * Returns the counts of each labeler by verdict, by value and by delay. Every UTC day that overlaps the interval counts
   * entirely. Throws `out_of_window` if `start` is before the floor.
   *
   * Days that no longer change are cached, and a turn of the event loop adds at most one of them to the sum. All counts
   * describe the rows of one turn: the turn of the call if the sum of these days is cached, or a later turn, so that
   * rows which are appended after the call may be included.
   */
  labelerCounters(interval: Interval): Promise<LabelersCounters>;
}

/**
 * Returns the upper bound, in milliseconds, of the range of delays that at least the given fraction of the counted rows
 * does not exceed. Returns null if no row is counted, and infinity if the delay is above the last bound.
 */
export function delayQuantile(delays: readonly number[], fraction: number): number | null {
  const total = delays.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let passed = 0;
  const range = delays.findIndex((count) => {
    passed += count;
    return passed >= fraction * total && passed > 0;
  });
  return delayBounds[range] ?? Number.POSITIVE_INFINITY;
}
