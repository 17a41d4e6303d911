import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError, type StoreErrorCode } from '../../errors.ts';
import { refusedBySystem, systemError } from './system-error.ts';

/** An open SQLite database. */
export type Sqlite = Database.Database;

/** Marks our files (`PRAGMA application_id`): "Alma". */
export const applicationId = 0x416c6d61;
/** Page size of every file in bytes. */
export const pageBytes = 4_096;
/** Size in bytes to which a longer log is truncated when it restarts. */
const journalSizeLimit = 16 * 1024 * 1024;
/** Log size in pages that triggers a checkpoint after a commit: 16 MB. */
const checkpointPages = 4_000;
/** Time to wait for another process's short lock, in milliseconds. */
export const lockWaitMs = 2_000;

type PragmaValue = string | number;

/**
 * Opens a file for writing and creates it if absent: write-ahead log, every commit durable unless `durable` is false.
 */
export function openWritable(path: string, cacheBytes: number, durable = true): Sqlite {
  const db = open(path, { timeout: lockWaitMs });
  try {
    setPragma(db, 'journal_mode', 'wal');
    setPragma(db, 'synchronous', durable ? 2 : 0);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    // A spilled page would be written to the log twice, but the bound on the log counts it once.
    db.pragma('cache_spill = 0');
    setPragma(db, 'journal_size_limit', journalSizeLimit);
    setPragma(db, 'wal_autocheckpoint', checkpointPages);
    setPragma(db, 'trusted_schema', 0);
    setPragma(db, 'cell_size_check', 1);
    assertPragma(db, 'page_size', pageBytes);
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return db;
}

/** Opens a file read-only that another connection may be writing. */
export function openReadonly(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: lockWaitMs });
  return settled(db, path, cacheBytes);
}

/**
 * Opens a file that never changes again. The binding does not support `immutable`, so the shared lock of the first
 * query is held: later queries check neither locks, journal nor changes.
 */
export function openImmutable(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    setPragma(db, 'locking_mode', 'exclusive');
    assertPragma(db, 'journal_mode', 'delete');
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return settled(db, path, cacheBytes);
}

function settled(db: Sqlite, path: string, cacheBytes: number): Sqlite {
  try {
    setPragma(db, 'query_only', 1);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    setPragma(db, 'trusted_schema', 0);
    setPragma(db, 'cell_size_check', 1);
    assertPragma(db, 'application_id', applicationId);
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return db;
}

function open(path: string, options: Database.Options): Sqlite {
  if (!existsSync(dirname(path))) throw new StoreError('not_a_store', `there is no directory for ${path}`);
  try {
    return new Database(path, options);
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Sets a pragma and verifies it: SQLite silently ignores values that it cannot apply. */
export function setPragma(db: Sqlite, name: string, value: PragmaValue): void {
  db.pragma(`${name} = ${value}`);
  assertPragma(db, name, value);
}

/** Throws `pragma_refused` if a pragma does not have the required value. */
export function assertPragma(db: Sqlite, name: string, expected: PragmaValue): void {
  const found = db.pragma(name, { simple: true });
  if (found !== expected) {
    throw new StoreError('pragma_refused', `${db.name}: ${name} is ${String(found)}, ${expected} is needed`);
  }
}

const codes: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, 'disk_full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
  // A reader without write permission depends on the log index of a writer: without a writer, it waits for one.
  [/^SQLITE_READONLY_(DIRECTORY|CANTINIT|RECOVERY|CANTLOCK)/, 'busy'],
  [/^SQLITE_CANTOPEN/, 'not_a_store'],
  [/^SQLITE_(NOTADB|CORRUPT|IOERR|SCHEMA|ERROR|CONSTRAINT|MISMATCH|READONLY|INTERNAL)/, 'damaged'],
];

/** Translates error codes of SQLite and of the system to those of the port; returns any other error unchanged. */
export function storeError(error: unknown, what: string): unknown {
  if (!(error instanceof Database.SqliteError)) return systemError(error, what);
  const code = refusedBySystem(error.code, what) ?? codes.find(([pattern]) => pattern.test(error.code))?.[1];
  return new StoreError(code ?? 'damaged', `${what}: ${error.message} (${error.code})`, { cause: error });
}

/** Returns true if the error means that the file does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'not_a_store';
}

/** Makes changes of a directory durable: creations, renames and removals. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
