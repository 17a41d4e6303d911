import type { Micros } from '../contract/timestamp.ts';
import type { TargetKind } from '../contract/vocabulary.ts';
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
