import { systemCode } from '../../ops/errors.ts';
import { StoreError } from '../errors.ts';
import { dayName, dayOf } from '../time.ts';
import { openReadonly, storeError } from './connection.ts';
import { metaNames } from './day-schema.ts';
import { type DayForm, dayPath, listDays, removeDatabase, removeGrowing, type StorePaths } from './files.ts';
import { removeDay } from './maintenance.ts';
import { schemaVersion } from './migrate.ts';
import type { StateChanges } from './state-write.ts';

/**
 * Brings the folder and the state file to one account of the days, after a stop at any point. A day that the state
 * names and the folder lacks is damage: its rows were accepted.
 */
export function recoverDays(paths: StorePaths, state: StateChanges): void {
  removeGrowing(paths);
  const forms = new Map<number, DayForm[]>();
  for (const { day, form } of listDays(paths)) forms.set(day, [...(forms.get(day) ?? []), form]);
  const floor = dayOf(state.floor());
  const known = new Set(state.catalog().days.map(({ day }) => day));
  for (const [day, found] of forms) {
    if (day < floor) {
      removeDay(paths, day);
      continue;
    }
    const sealed = found.includes('sealed');
    if (sealed && found.includes('open')) removeDatabase(dayPath(paths, day, 'open'));
    if (!sealed && !known.has(day) && !begun(dayPath(paths, day, 'open'))) {
      removeDatabase(dayPath(paths, day, 'open'));
      continue;
    }
    state.addDay(day, sealed);
    known.delete(day);
  }
  const [missing] = known;
  if (missing !== undefined) {
    const what = `the file of ${dayName(missing)} is gone from ${paths.days}`;
    throw new StoreError('damaged', `${what}: put it back, or state.sqlite and days of one copy`);
  }
}

/**
 * Whether a day's file was ever completed: a stop while it was made leaves one without a schema, or without what it
 * takes over from the day before. No row is in it: it would have been named first.
 */
function begun(path: string): boolean {
  try {
    const db = openReadonly(path, 0);
    try {
      if (schemaVersion(db) === 0) return false;
      return db.prepare('SELECT 1 FROM meta WHERE name = ?').get(metaNames.generation) !== undefined;
    } finally {
      db.close();
    }
  } catch (error) {
    // Without our mark: made and not yet ours.
    if (error instanceof StoreError && error.code === 'pragma_refused') return false;
    // A rollback journal is there only until the write-ahead log is switched on, which is the first thing done to a file.
    if (error instanceof StoreError && systemCode(error.cause) === 'SQLITE_READONLY_ROLLBACK') return false;
    throw storeError(error, path);
  }
}
