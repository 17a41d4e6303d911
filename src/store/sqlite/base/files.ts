import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dayFromName, dayName } from '../../time.ts';

/**
 * Files in a store's directory:
 *
 * - `state.sqlite`: epoch, gaps, roster, keys, definitions, list of days
 * - `writer.lock`, `standby.lock`: files that the one writer and the one standby lock
 * - `writer.json`, `standby.json`: presence files that describe these processes
 * - `days/YYYY-MM-DD.open.sqlite`: a day to which rows may still be added
 * - `days/YYYY-MM-DD.sealed.sqlite`: a day that never changes again
 *
 * The open and the sealed form of a day have different names, so that a leftover log of one form is never applied to
 * the other. If both exist, the sealed form is used, because a rename made it visible only after it was complete.
 */
export interface StorePaths {
  readonly folder: string;
  readonly days: string;
  readonly state: string;
  readonly lock: string;
  readonly writer: string;
  readonly standbyLock: string;
  readonly standby: string;
}

/** Returns the paths of a store in a directory. */
export function storePaths(folder: string): StorePaths {
  return {
    folder,
    days: join(folder, 'days'),
    state: join(folder, 'state.sqlite'),
    lock: join(folder, 'writer.lock'),
    writer: join(folder, 'writer.json'),
    standbyLock: join(folder, 'standby.lock'),
    standby: join(folder, 'standby.json'),
  };
}

/** Form of a day's file: open if rows may still be added, or sealed. */
export type DayForm = 'open' | 'sealed';

/** Returns the path of a day's file in the given form. */
export function dayPath(paths: StorePaths, day: number, form: DayForm): string {
  return join(paths.days, `${dayName(day)}.${form}.sqlite`);
}

/** Returns the path at which the sealed form of a day is written before it is renamed. */
export function growingPath(paths: StorePaths, day: number): string {
  return `${dayPath(paths, day, 'sealed')}.growing`;
}

/**
 * Removes a database and its SQLite side files. Removes the database before its log, so that no reader opens the
 * database without its log.
 */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}

/** Returns the day files in the directory, oldest first. */
export function listDays(paths: StorePaths): { day: number; form: DayForm }[] {
  const found: { day: number; form: DayForm }[] = [];
  for (const name of readdirSync(paths.days)) {
    const match = /^(.{10})\.(open|sealed)\.sqlite$/.exec(name);
    const day = match?.[1] === undefined ? null : dayFromName(match[1]);
    if (day !== null) found.push({ day, form: match?.[2] === 'sealed' ? 'sealed' : 'open' });
  }
  return found.sort((a, b) => a.day - b.day);
}
