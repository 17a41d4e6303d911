import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import { storeError } from './store-error.ts';

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

/** Makes changes of a directory durable: creations, renames and removals. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
