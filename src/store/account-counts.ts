import type { Micros } from '../contract/timestamp.ts';
import type { TargetKind } from '../contract/vocabulary.ts';
import type { Interval } from './time.ts';

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
export const maxTallyGroups = 100;

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
