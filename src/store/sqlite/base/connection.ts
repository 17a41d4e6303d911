import { closeSync, existsSync, fsyncSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import { storeError } from './store-error.ts';

/** An open SQLite database. */
export type Sqlite = Database.Database;

/** Identifier of the files of this program (`PRAGMA application_id`): "Alma". */
export const applicationId = 0x416c6d61;
/** Page size of every database file, in bytes. */
export const pageBytes = 4_096;
/** Size in bytes to which a larger write-ahead log is truncated when SQLite restarts it. */
const journalSizeLimit = 16 * 1024 * 1024;
/** Size of the write-ahead log, in pages, after which a commit triggers a checkpoint: 16 MB. */
const checkpointPages = 4_000;
/** Maximum time to wait for a short lock of another process, in milliseconds. */
export const lockWaitMs = 2_000;

type PragmaValue = string | number;

/**
 * Opens a file for writing, and creates it if it does not exist. The file uses a write-ahead log. Every commit is
 * durable unless `durable` is false.
 */
export function openWritable(path: string, cacheBytes: number, durable = true): Sqlite {
  const db = open(path, { timeout: lockWaitMs });
  try {
    setPragma(db, 'journal_mode', 'wal');
    setPragma(db, 'synchronous', durable ? 2 : 0);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    // Do not spill pages: a spilled page would be written to the log twice, but the calculation of the log size counts
    // it once.
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

/** Opens a file read-only, while another connection may write to it. */
export function openReadonly(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: lockWaitMs });
  return settled(db, path, cacheBytes);
}

/**
 * Opens a file that never changes again. The database driver does not support `immutable`. Instead, the connection
 * keeps the shared lock of its first query, so that later queries need not check for locks, a journal or changes.
 */
export function openImmutable(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    assertNoLog(path);
    setPragma(db, 'locking_mode', 'exclusive');
    assertPragma(db, 'journal_mode', 'delete');
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return settled(db, path, cacheBytes);
}

/**
 * Throws `pragma_refused` if the header of a file states that the file has a write-ahead log. SQLite would try to lock
 * that log, and report a failing disk. A file that another process has removed is left to `settled`.
 */
function assertNoLog(path: string): void {
  if (!existsSync(path)) return;
  // Offsets 18 and 19 contain the versions for writing and reading; 2 means a write-ahead log (SQLite, "Database File Format").
  const versions = Buffer.alloc(2);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, versions, 0, 2, 18);
  } finally {
    closeSync(descriptor);
  }
  if (versions.includes(2)) throw new StoreError('pragma_refused', `${path}: the header names a write-ahead log`);
}

/**
 * Configures a read-only connection and reads the header of the file. Throws `not_a_store` if another process has
 * removed or renamed the file since this connection opened it. Exported for its test.
 */
export function settled(db: Sqlite, path: string, cacheBytes: number): Sqlite {
  try {
    setPragma(db, 'query_only', 1);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    setPragma(db, 'trusted_schema', 0);
    setPragma(db, 'cell_size_check', 1);
    assertPragma(db, 'application_id', applicationId);
  } catch (error) {
    db.close();
    throw existsSync(path) ? storeError(error, path) : new StoreError('not_a_store', `${path} was removed`);
  }
  return db;
}

function open(path: string, options: Database.Options): Sqlite {
  if (!existsSync(dirname(path))) throw new StoreError('not_a_store', `the directory of ${path} does not exist`);
  try {
    return new Database(path, options);
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Sets a pragma and verifies its value, because SQLite silently ignores values that it cannot apply. */
export function setPragma(db: Sqlite, name: string, value: PragmaValue): void {
  db.pragma(`${name} = ${value}`);
  assertPragma(db, name, value);
}

/** Throws `pragma_refused` if a pragma does not have the required value. */
export function assertPragma(db: Sqlite, name: string, expected: PragmaValue): void {
  const found = db.pragma(name, { simple: true });
  if (found !== expected) {
    throw new StoreError(
      'pragma_refused',
      `${db.name}: the pragma ${name} is ${String(found)}, but ${expected} is required`,
    );
  }
}

/** Makes changes to a directory's entries durable: creations, renames and removals. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
