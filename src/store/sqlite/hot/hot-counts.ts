/**
 * Counts of hot accounts, so that the page of an account with a million rows shows exact numbers by day, labeler and
 * value without reading the rows:
 *
 * - While a day is written, `OpenDayCounter` keeps the counts of its hot subjects in the table `busy`, in the commit of
 *   the rows. A table of a million small counters in memory, which never undercounts, selects the subjects to look up.
 *   Some hot subjects have no stored counts, because counting begins when the writer starts; stored counts always
 *   include all rows.
 * - A sealed day stores the counts of every subject with at least `hotRows` rows in `busy_groups`, each subject's in
 *   one place with a checksum (`storeSealedDayCounts`, `packed-groups.ts`).
 * - `openDaySubtraction` and `recountOpenDay` update the counts of an open day when rows are purged or repaired.
 * - `StoredCounts` reads the counts of a file and compares them with its rows.
 * - `AccountTallies` counts an account over many days: from stored counts where a day has them, otherwise from rows
 *   within a budget (`account-groups.ts`).
 *
 * Other directories import only this file.
 */

export { AccountTallies } from './account-tally.ts';
export type { CountedDay } from './counted-day.ts';
export { openDaySubtraction, recountOpenDay } from './open-day-changes.ts';
export { OpenDayCounter } from './open-day-counter.ts';
export { packedRowSql } from './packed-rows.ts';
export { storeSealedDayCounts } from './sealed-day-counts.ts';
export { StoredCounts } from './stored-counts.ts';
