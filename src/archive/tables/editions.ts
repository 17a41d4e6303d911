import type { DayRecord } from '../days/day.ts';
import type { DayHours } from '../hours/day-hours.ts';
import { edition } from './columns.ts';
import { dayTables } from './day-tables.ts';
import { firstEdition, firstTables } from './first-edition.ts';
import { packageFile } from './package.ts';
import { type Edition, type FilledTable, filesOf } from './table.ts';

/** An edition of the tables, and how its rows are computed. */
export interface WrittenEdition extends Edition {
  /** Names of the files of the edition. */
  readonly files: readonly string[];
  /** Computes the tables with the hours that are over at `until` (milliseconds since 1970). */
  readonly fill: (hours: DayHours, until: number) => FilledTable[];
}

/** The edition of all days that are open, or were closed since it exists. */
export const current: WrittenEdition = { ...edition, files: filesOf(edition.tables), fill: dayTables };
/** The edition of the days that were closed before. */
export const first: WrittenEdition = { ...firstEdition, files: filesOf(firstEdition.tables), fill: firstTables };

/** Returns the edition of the tables that the record of a day lists or states as withheld. */
export function editionOf({ files, withheld }: DayRecord): WrittenEdition {
  const names = [...files.map(({ name }) => name), ...withheld];
  return names.some((name) => first.files.includes(name)) ? first : current;
}

/** Returns true for a file of the current edition that `archive rebuild` may have added to a day of the first one. */
export function isAdded(record: DayRecord, name: string): boolean {
  const isCurrent = name === packageFile || current.files.includes(name);
  return record.state === 'closed' && isCurrent && editionOf(record) === first;
}
