import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unfinishedCopy } from '../../common/moved.ts';
import { StoreError } from '../../errors.ts';
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

/**
 * Event about a file in the directory of days: the store removed, moved or rewrote the file, or left it in place
 * because it might still be needed.
 */
export interface FileEvent {
  readonly name: string;
  /** Day in the file's name, `YYYY-MM-DD`, or null if the name contains no day. */
  readonly day: string | null;
  readonly action: 'removed' | 'moved_aside' | 'rewritten' | 'left';
  readonly reason: string;
}

/** Handler that is called for each file event. */
export type OnFile = (event: FileEvent) => void;

/** Handler that ignores file events. */
export const silent: OnFile = () => undefined;

/** Makes a file's content durable with fsync. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Suffix of a directory or file that belongs to an unfinished move, restore or copy. */
export const unfinished = '.unfinished';
/** Directory into which a backup is copied, and in which it is verified, before its files are moved into the store. */
export const copyingName = 'restore-copy.unfinished';
/**
 * Directory with a complete and verified copy of a backup. Once it exists, the restore can only be completed, not
 * undone.
 */
export const copiedName = 'restore-move.unfinished';

/** Marker file of a directory that is the target of an unfinished copy of another store. */
export const storeCopyName = 'store-copy.unfinished';

/**
 * Throws `damaged` if a move of the store's files was interrupted, which leaves the directory incomplete, and
 * `unfinished_copy` if the directory is the target of an unfinished copy.
 */
export function assertNoInterruptedMove(folder: string): void {
  const found = readdirSync(folder).find((name) => name.endsWith(unfinished));
  if (found === undefined) return;
  if (found === storeCopyName) throw unfinishedCopy(folder);
  const again = found === copyingName || found === copiedName ? 'restore FROM' : 'new-epoch';
  throw new StoreError(
    'damaged',
    `${folder}/${found} belongs to an interrupted command: run almanac labels ${again} again`,
  );
}
