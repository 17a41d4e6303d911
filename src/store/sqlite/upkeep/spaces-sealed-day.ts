import { openImmutable, openReadonly } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { flush } from '../base/flush.ts';
import { storeError } from '../base/store-error.ts';
import { keepChecksums } from '../blocks/keep-checksums.ts';
import { recountNewDay } from '../labeler/recount.ts';
import { metaNames } from '../schema/day-schema.ts';
import { createGrowingDay, growingCacheBytes, prepareGrowingDay } from '../schema/growing-day.ts';
import { aboutSpaceSql } from '../schema/space-sql.ts';
import { assertUnaltered, copyRows } from './purge-sealed-day.ts';
import { countRows, takenOver } from './rebuild-day.ts';
import { completeSealedDay } from './seal-day.ts';

/**
 * Writes a sealed day into `growing` without its rows about spaces, with recomputed counters. Returns the number of
 * omitted rows. The file is complete and durable when the function returns. If the day has no such rows, writes no file
 * and returns 0.
 */
export function writeWithoutSpaceRows(sealed: string, growing: string, day: number): number {
  const before = countOf(sealed);
  if (before.aboutSpaces === 0) return 0;
  assertUnaltered(sealed, day);
  const db = createGrowingDay(growing);
  try {
    prepareGrowingDay(db, sealed);
    const rows = copyRows(db, growing, `NOT ${aboutSpaceSql('day')}`);
    for (const table of takenOver) db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table}`);
    countRows(db);
    db.prepare('DELETE FROM main.meta WHERE name = ?').run(metaNames.rows);
    db.prepare(
      'INSERT INTO main.meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    ).run(metaNames.purged, before.rows - rows);
    recountNewDay(db, day);
    db.exec('DETACH day');
    completeSealedDay(db, rows);
    keepChecksums(db, day);
    return before.rows - rows;
  } catch (error) {
    throw storeError(error, growing);
  } finally {
    db.close();
    flush(growing);
  }
}

/** Returns the number of rows that were ever removed from a day, according to its file. */
export function purgedRows(path: string, form: DayForm = 'sealed'): number {
  const db = (form === 'sealed' ? openImmutable : openReadonly)(path, 1024 * 1024);
  try {
    return db.prepare<[string], number>('SELECT value FROM meta WHERE name = ?').pluck().get(metaNames.purged) ?? 0;
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}

/** Returns the number of all rows of a sealed day, and the number of rows about spaces. */
function countOf(sealed: string): { readonly rows: number; readonly aboutSpaces: number } {
  const db = openImmutable(sealed, growingCacheBytes);
  try {
    const sql = `SELECT count(*) AS rows, coalesce(sum(${aboutSpaceSql('main')}), 0) AS aboutSpaces FROM observation`;
    return db.prepare<[], { rows: number; aboutSpaces: number }>(sql).get() ?? { rows: 0, aboutSpaces: 0 };
  } catch (error) {
    throw storeError(error, sealed);
  } finally {
    db.close();
  }
}
