import Database from 'better-sqlite3';
import { StoreError, type StoreErrorCode } from '../../errors.ts';
import { instructed, refusedBySystem, systemError } from './system-error.ts';

/** Store error codes by SQLite result code; the first match applies. */
const codes: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, 'disk_full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
  // A reader without write permission depends on the log index that a writer maintains, so it must wait until a writer
  // runs.
  [/^SQLITE_READONLY_(DIRECTORY|CANTINIT|RECOVERY|CANTLOCK)/, 'busy'],
  [/^SQLITE_CANTOPEN/, 'not_a_store'],
  // Only these codes prove that the content of a file is wrong.
  [/^SQLITE_(NOTADB|CORRUPT|IOERR_(CORRUPTFS|DATA))/, 'damaged'],
  [/^SQLITE_(IOERR|READONLY|PERM)/, 'io_failed'],
];

/** Converts errors of SQLite and of the system to store errors; returns any other error unchanged. */
export function storeError(error: unknown, what: string): unknown {
  if (!(error instanceof Database.SqliteError)) return systemError(error, what);
  const known = refusedBySystem(error.code, what) ?? codes.find(([pattern]) => pattern.test(error.code))?.[1];
  return instructed(known ?? 'unexpected', `${what}: ${error.message} (${error.code})`, error);
}

/** Returns true if the error means that the file does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'not_a_store';
}
