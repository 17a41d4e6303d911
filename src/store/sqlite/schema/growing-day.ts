import Database from 'better-sqlite3';
import { pageBytes, type Sqlite, setPragma } from '../base/connection.ts';
import { removeDatabase } from '../base/files.ts';
import { migrate } from '../base/migrate.ts';
import { sealedDayMigrations } from './day-schema.ts';

/** Size of the page cache while a sealed day is written, in bytes; one cache each for the source and the new file. */
export const growingCacheBytes = 32 * 1024 * 1024;

/**
 * Creates and opens the file in which a sealed day is built. An incomplete file of an earlier attempt is removed first.
 * The file has no journal on disk: the caller must flush it before the rename, and a crash before the flush leaves an
 * unusable file.
 */
export function createGrowingDay(growing: string): Sqlite {
  removeDatabase(growing);
  return new Database(growing, { timeout: 0 });
}

/** Creates the schema of the new file, and attaches the source file as the database `day`. */
export function prepareGrowingDay(db: Sqlite, from: string): void {
  setPragma(db, 'page_size', pageBytes);
  setPragma(db, 'journal_mode', 'memory');
  setPragma(db, 'synchronous', 0);
  setPragma(db, 'temp_store', 2);
  setPragma(db, 'cache_size', -growingCacheBytes / 1024);
  migrate(db, sealedDayMigrations, new Date().toISOString());
  db.prepare('ATTACH ? AS day').run(from);
}
