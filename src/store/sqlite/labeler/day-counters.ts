import { parseInstant } from '../../../contract/timestamp.ts';
import { type SignatureVerdict, signatureVerdicts } from '../../label.ts';
import { delayRangeOf, maxCountedValues } from '../../labeler-counters.ts';
import { liveFlag, removalFlag, type StoredRow, verdictIn } from '../base/row.ts';

/** Numbers of applications and removals. */
export type Events = [applied: number, removed: number];

/** Counters of one labeler's rows on one day. Values are identified by their numeric ids in the day's file. */
export interface DayCounters {
  readonly verdicts: Map<SignatureVerdict, number>;
  /**
   * Counts by value, for at most `maxCountedValues` values. A value keeps its entry until the day is sealed, even if
   * its rows are purged. Once the limit is reached, no other value gets an entry on that day.
   */
  readonly values: Map<number, Events>;
  /** Total counts of the rows of all values without an entry. */
  readonly others: Events;
  /** Number of live rows by delay range; ranges without rows may be absent. */
  readonly delays: Map<number, number>;
}

/** Properties of a row that are counted. */
export interface CountedRow {
  readonly value: number;
  readonly isRemoval: boolean;
  readonly verdict: SignatureVerdict;
  /** Index of the row's delay range, or null if the row is not live or its `cts` is not a valid time. */
  readonly delay: number | null;
}

/** Returns counters in which every count is zero. */
export function emptyCounters(): DayCounters {
  return { verdicts: new Map(), values: new Map(), others: [0, 0], delays: new Map() };
}

/** Returns true if every count is zero. */
export function isEmpty({ verdicts }: DayCounters): boolean {
  return signatureVerdicts.every((verdict) => (verdicts.get(verdict) ?? 0) === 0);
}

/** Columns that `countedRow` requires, for use in SQL. */
export const countedColumns = 'id, val, flags, cts, cts_text';

/** Returns the counted properties of a row, given as the columns in `countedColumns`. */
export function countedRow(
  id: number,
  value: number,
  flags: number,
  cts: number | null,
  text: string | null,
): CountedRow {
  return {
    value,
    isRemoval: (flags & removalFlag) !== 0,
    verdict: verdictIn(flags),
    delay: (flags & liveFlag) === 0 ? null : delayRange(id, cts, text),
  };
}

/** Returns the counted properties of a stored row. */
export function countedStoredRow([id, , , value, , , flags, , cts, text]: StoredRow): CountedRow {
  return countedRow(id, value, flags, cts, text);
}

function delayRange(id: number, cts: number | null, text: string | null): number | null {
  const authored = cts === null ? parseInstant(text ?? '') : cts * 1000;
  if (authored === null) return null;
  return delayRangeOf(Math.max(0, Math.floor((id - authored) / 1000)));
}

/** Adds a row to the counters. A value whose text is too long gets no separate entry. */
export function addRow(counters: DayCounters, row: CountedRow, isLong: boolean): void {
  const { values } = counters;
  if (!isLong && values.size < maxCountedValues && !values.has(row.value)) values.set(row.value, [0, 0]);
  changeBy(counters, row, 1);
}

/** Subtracts a row that was counted before. */
export function subtractRow(counters: DayCounters, row: CountedRow): void {
  changeBy(counters, row, -1);
}

function changeBy({ verdicts, values, others, delays }: DayCounters, row: CountedRow, by: 1 | -1): void {
  const { value, verdict, delay, isRemoval } = row;
  verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + by);
  (values.get(value) ?? others)[isRemoval ? 1 : 0] += by;
  if (delay !== null) delays.set(delay, (delays.get(delay) ?? 0) + by);
}
