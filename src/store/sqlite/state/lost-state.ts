import { existsSync, statSync } from 'node:fs';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { assertNoInterruptedMove, type DayForm, dayPath, listDays, type StorePaths } from '../base/files.ts';
import { storeError } from '../base/store-error.ts';
import { type DayContent, dayContent } from '../schema/day-content.ts';

/** Instructions for the operator if the state file and the day files do not match. */
export const remedy =
  'almanac labels restore FROM restores a backup; almanac labels new-epoch moves the days aside and begins a new store';

/**
 * Throws `damaged` if the state file is missing or empty although day files or its log exist, because a new state file
 * must never be created for existing days. Also throws if a move, a restore or a copy of the store was interrupted; see
 * `assertNoInterruptedMove`.
 */
export function assertStateFile(paths: StorePaths): void {
  const size = statSync(paths.state, { throwIfNoEntry: false })?.size;
  if (existsSync(paths.folder)) assertNoInterruptedMove(paths.folder);
  if ((size ?? 0) > 0) return;
  const log = statSync(`${paths.state}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > 0)
    throw new StoreError('damaged', `${paths.folder} contains the log of state.sqlite but no state.sqlite: ${remedy}`);
  refuse(paths, size === undefined ? 'state.sqlite is missing' : 'state.sqlite is empty');
}

/** Throws `damaged` if day files exist but the state file has no epoch, because its content or its log was lost. */
export function assertStateBegun(paths: StorePaths, hasEpoch: boolean): void {
  if (!hasEpoch) refuse(paths, 'state.sqlite has no epoch');
}

/**
 * Throws `damaged` if the newest readable day and the state file have different generations, because one of the two
 * files then belongs to another store.
 */
export function assertOneGeneration(
  paths: StorePaths,
  generation: string,
  forms: readonly DayForm[] = ['open', 'sealed'],
): void {
  if (!existsSync(paths.days)) return;
  for (const { day, form } of listDays(paths).reverse()) {
    if (!forms.includes(form)) continue;
    const path = dayPath(paths, day, form);
    const content = contentIfReadable(path);
    if (content?.kind !== 'day') continue;
    if (content.generation === generation) return;
    throw new StoreError('damaged', `${path} belongs to another generation of the store: ${remedy}`);
  }
}

/**
 * Returns the content of a day's file, or null if the file cannot be read now, for example because it is locked or was
 * removed. A later read reports the error.
 */
function contentIfReadable(path: string): DayContent | null {
  try {
    return dayContent(path, false);
  } catch (error) {
    const known = storeError(error, path);
    if (known instanceof StoreError) return null;
    throw error;
  }
}

/** Throws `damaged` if SQLite detects corruption in the state file. */
export function assertSound(db: Sqlite): void {
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new StoreError('damaged', `${db.name}: ${String(found)}: ${remedy}`);
}

function refuse(paths: StorePaths, why: string): void {
  const days = existsSync(paths.days) ? [...new Set(listDays(paths).map(({ day }) => dayName(day)))] : [];
  if (days.length === 0) return;
  const [first, last] = [days[0], days.at(-1)];
  const which = days.length === 1 ? `the day ${first} exists` : `${days.length} days exist, ${first} to ${last}`;
  throw new StoreError('damaged', `${why} in ${paths.folder}, and ${which}: ${remedy}`);
}
