/**
 * Counts of hot accounts, so that the page of an account with a million rows shows exact numbers by day, labeler and
 * value without reading the rows:
 *
 * - While rows are added to a day, `OpenDayCounter` maintains the counts of its hot subjects in the table `busy`, in
 *   the same commit as the rows. An in-memory table of a million small counters, which never undercount, selects the
 *   subjects to look up. Stored counts always include all rows of a subject, but some hot subjects have no stored
 *   counts, because the in-memory counting starts when the writer starts.
 * - A sealed day stores the counts of every subject with at least `hotRows` rows in `busy_groups`, packed into one
 *   value per subject with a checksum (`storeSealedDayCounts`, `group.ts`).
 * - `openDaySubtraction` and `recountOpenDay` update the counts of an open day when rows are purged or the day is
 *   repaired.
 * - `StoredCounts` reads the counts of a file and compares them with its rows.
 * - `AccountTallies` counts an account over many days: from stored counts for days that have them, otherwise from rows
 *   within a budget (`account-tally.ts`).
 *
 * Other directories import only this file.
 */

export { AccountTallies } from './account-tally.ts';
export { OpenDayCounter, openDaySubtraction, recountOpenDay } from './open-day-counter.ts';
export type { CountedDay } from './stored-counts.ts';
export { packedRowSql, StoredCounts, storeSealedDayCounts } from './stored-counts.ts';
