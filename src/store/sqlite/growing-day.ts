import Database from 'better-sqlite3';
import { pageBytes, type Sqlite, setPragma } from './connection.ts';
import { sealedDayMigrations } from './day-schema.ts';
import { removeDatabase } from './files.ts';
import { migrate } from './migrate.ts';

/** Pages of the source and of the new file that are held in memory while a sealed day is written, in bytes. */
export const growingCacheBytes = 32 * 1024 * 1024;

/**
 * Makes the file in which a sealed day grows, and removes what an earlier try left there. It has no journal on disk: the
 * caller flushes it before it is renamed, and a crash before that leaves a file of no use.
 */
export function createGrowingDay(growing: string): Sqlite {
  removeDatabase(growing);
  return new Database(growing, { timeout: 0 });
}

/** Gives the new file its schema, and attaches the day that it is written from as `day`. */
export function prepareGrowingDay(db: Sqlite, from: string): void {
  setPragma(db, 'page_size', pageBytes);
  setPragma(db, 'journal_mode', 'memory');
  setPragma(db, 'synchronous', 0);
  setPragma(db, 'temp_store', 2);
  setPragma(db, 'cache_size', -growingCacheBytes / 1024);
  migrate(db, sealedDayMigrations, new Date().toISOString());
  db.prepare('ATTACH ? AS day').run(from);
}
