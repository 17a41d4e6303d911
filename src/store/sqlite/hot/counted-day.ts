import type { DayForm } from '../base/files.ts';
import type { NameOf, SubjectKey } from '../base/row.ts';
import type { StoredCounts } from './stored-counts.ts';

/** Part of a day's file that counting an account's rows requires. */
export interface CountedDay {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Number that differs for every opened file. */
  readonly serial: number;
  readonly hotCounts: StoredCounts;
  /** Returns the text of a number in this file. */
  readonly nameOf: NameOf;
  /** Returns false if the file certainly holds no row of the account. */
  mayHold(key: SubjectKey): boolean;
  /** Returns an account's rows with `start <= id < end`, at most `limit` rows, as `packedRowSql` encodes them. */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[];
  /** Runs several queries on one state of the file. */
  atOnce<T>(work: () => T): T;
}
