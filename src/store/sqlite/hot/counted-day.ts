import type { DayForm } from '../base/files.ts';
import type { NameOf, SubjectKey } from '../base/row.ts';
import type { StoredCounts } from './stored-counts.ts';

/** Methods of a day's file that are needed to count an account's rows. */
export interface CountedDay {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Number that is different for each opened file. */
  readonly serial: number;
  readonly hotCounts: StoredCounts;
  /** Returns the text with a numeric id in this file. */
  readonly nameOf: NameOf;
  /** Returns false if the file certainly contains no row of the account. */
  mayHold(key: SubjectKey): boolean;
  /**
   * Returns an account's rows with `start <= id < end`, at most `limit` rows, each as one number (see `packedRowSql`).
   */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[];
  /** Runs several queries on one snapshot of the file. */
  atOnce<T>(work: () => T): T;
}
