import type { Micros } from '../contract/timestamp.ts';
import type { SignatureVerdict } from '../contract/vocabulary.ts';
import type { EventCount } from './account-counts.ts';
import type { Interval } from './time.ts';

/**
 * Inclusive upper bounds of the delay ranges, in milliseconds: six bounds per factor of ten, from 10 ms to 61 h. Longer
 * delays are counted in one more range, which has no upper bound.
 */
export const delayBounds: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8]
  .flatMap((exponent) => [1, 1.5, 2.2, 3.3, 4.7, 6.8].map((factor) => Math.round(factor * 10 ** exponent)))
  .slice(0, 45);

/** Returns the index of the range that contains a delay in milliseconds. The last range has no upper bound. */
export function delayRangeOf(delay: number): number {
  let [low, high] = [0, delayBounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (delay <= (delayBounds[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Maximum number of values per labeler that one day counts by name; all other values are counted together. */
export const maxCountedValues = 256;
/** Maximum length in UTF-8 bytes of a value that is counted by name; the lexicon has the same limit. */
export const maxCountedValueBytes = 128;

/** Numbers of applications and removals of one value. */
export interface ValueCount extends EventCount {
  readonly value: string;
}

/** Counts of one labeler's accepted rows. */
export interface LabelerCounters {
  readonly labeler: string;
  /** Number of rows by signature verdict. */
  readonly verdicts: Readonly<Record<SignatureVerdict, number>>;
  /**
   * Number of rows by value, largest count first, then by text; at most `maxCountedValues` entries. If `others` is
   * zero, every count is exact. Otherwise a count may be too small, by at most `others`.
   */
  readonly values: readonly ValueCount[];
  /** Number of rows whose value is not counted by name. */
  readonly others: EventCount;
  /**
   * Number of live rows by delay from `cts` to acceptance: one count for each range of `delayBounds`, and a last
   * count for longer delays. A negative delay counts as zero. Rows without a valid `cts` are not counted.
   */
  readonly delays: readonly number[];
}

/** Counts of all labelers over whole days. */
export interface LabelersCounters {
  /**
   * Instant from which every row of the counted days is included. Some or all rows before this instant are not
   * counted, because an earlier version accepted them. If an earlier version accepted all rows, this is the end of
   * the last counted day.
   */
  readonly since: Micros;
  /** Labelers with at least one counted row, sorted by DID. */
  readonly labelers: readonly LabelerCounters[];
}

/** Method of a store reader that counts the rows of labelers. */
export interface LabelerCounterReader {
  /**
   * Returns the counts of each labeler by verdict, by value and by delay. Every UTC day that overlaps the interval is
   * counted as a whole. Throws `out_of_window` if `start` is before the floor.
   *
   * The embedded store caches the counts of days that no longer change, and sums other days in short steps, each in a
   * separate turn of the event loop. The result may therefore include rows that were appended after the call.
   */
  labelerCounters(interval: Interval): Promise<LabelersCounters>;
}

/**
 * Returns the upper bound, in milliseconds, of the delay range that contains the given quantile: at least this fraction
 * of the counted rows have a delay within the bound. Returns null if no row is counted, and infinity if the quantile is
 * above the last bound.
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
