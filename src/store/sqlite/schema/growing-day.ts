import Database from 'better-sqlite3';
import { pageBytes, type Sqlite, setPragma } from '../base/connection.ts';
import { removeDatabase } from '../base/files.ts';
import { migrate } from '../base/migrate.ts';
import { sealedDayMigrations } from './day-schema.ts';

/** Size of the page cache, in bytes, for the source and for the new file while a sealed day is written, in bytes. */
export const growingCacheBytes = 32 * 1024 * 1024;

/**
 * Creates the file in which a sealed day is built, and removes the remains of an earlier attempt. The file has no
 * journal on disk: the caller must flush it before the rename, and a crash before the flush leaves an unusable file.
 * Returns the open file.
 */
export function createGrowingDay(growing: string): Sqlite {
  removeDatabase(growing);
  return new Database(growing, { timeout: 0 });
}

/** Creates the schema of the new file, and attaches the source file as `day`. */
export function prepareGrowingDay(db: Sqlite, from: string): void {
  setPragma(db, 'page_size', pageBytes);
  setPragma(db, 'journal_mode', 'memory');
  setPragma(db, 'synchronous', 0);
  setPragma(db, 'temp_store', 2);
  setPragma(db, 'cache_size', -growingCacheBytes / 1024);
  migrate(db, sealedDayMigrations, new Date().toISOString());
  db.prepare('ATTACH ? AS day').run(from);
}
