import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from './connection.ts';
import { isAbsent, storeError } from './store-error.ts';

/**
 * Maximum time to wait for the lock, in milliseconds. A process that checks whether the lock is held takes a shared
 * lock briefly, or longer on a busy machine. This shared lock must not be mistaken for a second writer.
 */
const lookedAtMs = 500;

/** Lock of a store's writer. It is held until it is released, or until the process ends for any reason. */
export interface WriterLock {
  release(): void;
}

/**
 * Takes the writer's lock: an exclusive lock of the operating system on a separate file, so that a killed process
 * leaves no lock behind. Throws `second_writer` if another connection, in any process, holds the lock, and
 * `not_a_store` if the file cannot be created.
 */
export function takeWriterLock(path: string): WriterLock {
  let db: Sqlite;
  try {
    db = new Database(path, { timeout: lookedAtMs });
  } catch (error) {
    throw storeError(error, path);
  }
  try {
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    const refused = storeError(error, path);
    if (refused instanceof StoreError && refused.code === 'busy') {
      throw new StoreError('second_writer', 'another process is writing to this store; stop it first', {
        cause: error,
      });
    }
    throw isAbsent(refused) ? new StoreError('not_a_store', `${path} cannot be created`, { cause: error }) : refused;
  }
  return { release: () => db.close() };
}

/** Returns true if a process holds the lock. Takes only a shared lock, briefly, and writes no file. */
export function writerLockHeld(path: string): boolean {
  if (!existsSync(path)) return false;
  let db: Sqlite | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    db.prepare('SELECT 1 FROM sqlite_master').get();
    return false;
  } catch (error) {
    const refused = storeError(error, path);
    if (refused instanceof StoreError && refused.code === 'busy') return true;
    throw refused;
  } finally {
    db?.close();
  }
}
