import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dayFromName, dayName } from '../time.ts';

/**
 * Names in a store's folder:
 *   state.sqlite                    epoch, gaps, roster, keys, definitions, which days there are
 *   writer.lock                     locked by the one writer
 *   days/YYYY-MM-DD.open.sqlite     a day that is or was written
 *   days/YYYY-MM-DD.sealed.sqlite   a day that never changes again
 * A day's two forms have two names, so that a left-over log of one is never taken for the other's. Where both
 * exist the sealed one counts: it came into place by rename, whole.
 */
export interface StorePaths {
  readonly folder: string;
  readonly days: string;
  readonly state: string;
  readonly lock: string;
}

/** The paths of a store in a folder. */
export function storePaths(folder: string): StorePaths {
  return {
    folder,
    days: join(folder, 'days'),
    state: join(folder, 'state.sqlite'),
    lock: join(folder, 'writer.lock'),
  };
}

/** A form of a day's file. */
export type DayForm = 'open' | 'sealed';

/** The path of a day's file. */
export function dayPath(paths: StorePaths, day: number, form: DayForm): string {
  return join(paths.days, `${dayName(day)}.${form}.sqlite`);
}

/** Path at which a sealed day grows before it is renamed into place. */
export function growingPath(paths: StorePaths, day: number): string {
  return `${dayPath(paths, day, 'sealed')}.growing`;
}

/** Removes a database with its SQLite side files: the database first, so that no reader opens it without its log. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}

/** The day files in the folder, oldest first. */
export function listDays(paths: StorePaths): { day: number; form: DayForm }[] {
  const found: { day: number; form: DayForm }[] = [];
  for (const name of readdirSync(paths.days)) {
    const match = /^(.{10})\.(open|sealed)\.sqlite$/.exec(name);
    const day = match?.[1] === undefined ? null : dayFromName(match[1]);
    if (day !== null) found.push({ day, form: match?.[2] === 'sealed' ? 'sealed' : 'open' });
  }
  return found.sort((a, b) => a.day - b.day);
}
