import type { Micros } from '../contract/timestamp.ts';
import type { SignatureVerdict, TargetKind } from '../contract/vocabulary.ts';
import { dayStart, type Interval, micros } from './time.ts';

/** Number of rows that apply a label, and number of rows that remove a label. */
export interface EventCount {
  readonly applied: number;
  readonly removed: number;
}

/** Counts of an account's rows for one UTC day within an interval. */
export interface DayCounts extends Readonly<Record<TargetKind, EventCount>> {
  /** Number of all rows, regardless of the filter. */
  readonly rows: number;
}

/** One UTC day within an interval, with the counts of its rows. */
export interface AccountDay extends Interval {
  /** Number of rows that match the filter, by target kind, or null if the day's rows were not counted. */
  readonly counts: DayCounts | null;
}

/** Counts of an account's rows in an interval. `labelers` and `values` exclude days that were not counted. */
export interface AccountTally {
  /** Every UTC day that overlaps the interval, oldest first. */
  readonly days: readonly AccountDay[];
  /** Number of rows by labeler, regardless of the filter: largest count first, then by DID. */
  readonly labelers: readonly LabelerCount[];
  /** Number of rows by value, regardless of the filter: largest count first, then by text; at most `maxTallyValues`. */
  readonly values: readonly ({ readonly value: string } & EventCount)[];
  /** Rows of counted days that match the filter, by labeler and value: largest count first, then by DID. */
  readonly groups: readonly LabelerGroup[];
}

/** Maximum number of values in a tally. */
export const maxTallyValues = 200;
/** Maximum number of values in all groups of a tally. The values with the most rows are listed. */
const maxTallyGroups = 100;

/** Number of rows, and the UTC days (their starts) of the first and the last of these rows. */
export interface EventSpan extends EventCount {
  readonly firstDay: Micros;
  readonly lastDay: Micros;
}

/** Rows of one labeler. The sums include the rows with values that are not listed. */
export interface LabelerGroup extends EventSpan {
  readonly labeler: string;
  /** Values with the most rows: largest count first, then by text. */
  readonly values: readonly ({ readonly value: string } & EventSpan)[];
  /** Number of the labeler's values that are not listed. */
  readonly otherValues: number;
}

/** Observed events of a labeler: `applied` counts labels, `removed` counts negations. */
export interface LabelerCount extends EventCount {
  readonly labeler: string;
}

/** Number of rows, and the numbers of the days of the first and the last of them. */
interface Span {
  applied: number;
  removed: number;
  first: number;
  last: number;
}

/** One labeler's values, each with its rows. */
type Values = Map<string, Span>;

/** Sums of an account's rows by labeler and value over several days. */
export class GroupSums {
  readonly #labelers = new Map<string, Values>();
  #size = 0;

  /** Number of combinations of labeler and value, which indicates the memory that the sums use. */
  get size(): number {
    return this.#size;
  }

  /** Adds rows of one day. `day` is the number of the UTC day. */
  add(labeler: string, value: string, day: number, { applied, removed }: EventCount): void {
    this.#addSpan(labeler, value, { applied, removed, first: day, last: day });
  }

  /** Adds the sums of other days. */
  merge(others: GroupSums): void {
    for (const [labeler, values] of others.#labelers) {
      for (const [value, span] of values) this.#addSpan(labeler, value, span);
    }
  }

  #addSpan(labeler: string, value: string, span: Span): void {
    if (span.applied + span.removed === 0) return;
    let values = this.#labelers.get(labeler);
    if (!values) {
      values = new Map();
      this.#labelers.set(labeler, values);
    }
    const known = values.get(value);
    if (known) {
      extend(known, span);
      return;
    }
    values.set(value, { ...span });
    this.#size += 1;
  }

  /** Returns the groups as in a tally: sorted, and with at most `maxTallyGroups` values. */
  result(): LabelerGroup[] {
    const smallest = this.#smallestListed();
    const labelers = [...this.#labelers].map(([labeler, values]): [string, Values, Span] => [
      labeler,
      values,
      sumOf(values),
    ]);
    // Values with the smallest listed count are listed in the order of the groups until the limit is reached.
    let left = maxTallyGroups - this.#countAbove(smallest);
    return labelers.sort(byCount((entry) => entry[2])).map(([labeler, values, sum]) => {
      const listed = [...values]
        .sort(byCount(([, span]) => span))
        .filter(
          ([, { applied, removed }]) => applied + removed > smallest || (applied + removed === smallest && left-- > 0),
        );
      return {
        labeler,
        ...wire(sum),
        values: listed.map(([value, span]) => ({ value, ...wire(span) })),
        otherValues: values.size - listed.length,
      };
    });
  }

  /** Returns the smallest number of rows of a value that is listed. */
  #smallestListed(): number {
    if (this.#size <= maxTallyGroups) return 1;
    const counts = [...this.#labelers.values()].flatMap((values) =>
      [...values.values()].map(({ applied, removed }) => applied + removed),
    );
    return counts.sort((a, b) => b - a)[maxTallyGroups - 1] ?? 1;
  }

  #countAbove(smallest: number): number {
    let count = 0;
    for (const values of this.#labelers.values()) {
      for (const { applied, removed } of values.values()) if (applied + removed > smallest) count += 1;
    }
    return count;
  }
}

function extend(sum: Span, { applied, removed, first, last }: Span): void {
  sum.applied += applied;
  sum.removed += removed;
  sum.first = Math.min(sum.first, first);
  sum.last = Math.max(sum.last, last);
}

function sumOf(values: Values): Span {
  const sum = { applied: 0, removed: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
  for (const span of values.values()) extend(sum, span);
  return sum;
}

function wire({ applied, removed, first, last }: Span) {
  return { applied, removed, firstDay: micros(dayStart(first)), lastDay: micros(dayStart(last)) };
}

/** Returns an order of named entries: largest count first, then by name. */
function byCount<Entry extends readonly [string, ...unknown[]]>(spanOf: (entry: Entry) => Span) {
  return (a: Entry, b: Entry): number => {
    const [x, y] = [spanOf(a), spanOf(b)];
    return y.applied + y.removed - x.applied - x.removed || (a[0] < b[0] ? -1 : 1);
  };
}

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
