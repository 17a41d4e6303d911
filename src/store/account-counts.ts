import type { TargetKind } from '../contract/vocabulary.ts';
import type { Interval } from './time.ts';

/** Number of applications and removals, in rows. */
export interface EventCount {
  readonly applied: number;
  readonly removed: number;
}

/** Counts of an account's rows for one UTC day within an interval. */
export interface DayCounts extends Readonly<Record<TargetKind, EventCount>> {
  /** All rows, regardless of the filter. */
  readonly rows: number;
}

/** One UTC day within an interval; `counts` is null if its rows were not counted. */
export interface AccountDay extends Interval {
  /** Rows that match the filter, by target kind. */
  readonly counts: DayCounts | null;
}

/** Counts of an account's rows in an interval. The sums exclude days that were not counted. */
export interface AccountTally {
  /** Every UTC day in the interval, oldest first. */
  readonly days: readonly AccountDay[];
  /** Rows by labeler, regardless of the filter: largest count first, then by DID. */
  readonly labelers: readonly LabelerCount[];
  /** Rows by value, regardless of the filter: largest count first, then by text; at most `maxTallyValues`. */
  readonly values: readonly ({ readonly value: string } & EventCount)[];
}

/** Maximum number of values in a tally. */
export const maxTallyValues = 200;

/** Observed events of a labeler: `applied` counts labels, `removed` counts negations. */
export interface LabelerCount extends EventCount {
  readonly labeler: string;
}
