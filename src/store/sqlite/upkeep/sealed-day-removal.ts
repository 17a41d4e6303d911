import { StoreError } from '../../errors.ts';
import { openImmutable, openReadonly, type Sqlite } from '../base/connection.ts';
import { type DayForm, flush } from '../base/files.ts';
import type { SubjectKey } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { checkDay, keepChecksums } from '../blocks/checked-blocks.ts';
import { copyLabelerCounters, recountNewDay } from '../labeler/counter-changes.ts';
import { DayFile } from '../schema/day-file.ts';
import {
  aboutSpaceSql,
  createGrowingDay,
  growingCacheBytes,
  metaNames,
  prepareGrowingDay,
  rowColumns,
  sharedTables,
} from '../schema/day-schema.ts';
import { hasChecksums } from './replace-day.ts';
import { completeSealedDay, countRows, takenOver } from './seal-day.ts';

const rowsAtOnce = 20_000;

/**
 * Returns true if a sealed day contains a source's name, which means that the day has rows or refusals of the source.
 */
export function sealedDayNames(path: string, source: string): boolean {
  const db = openImmutable(path, 1024 * 1024);
  try {
    return db.prepare('SELECT 1 FROM source WHERE name = ?').get(source) !== undefined;
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}

/**
 * Throws `damaged` if a part of a day does not match its checksum, because the checksums of a rewritten file would
 * certify wrong data.
 */
function assertUnaltered(sealed: string, day: number): void {
  // A day of an earlier version has no checksums; the caller only compares its rows with its counters.
  if (!hasChecksums(sealed)) return;
  const db = openImmutable(sealed, growingCacheBytes);
  try {
    const { value: problem } = checkDay(new DayFile(db, sealed), day).next();
    if (problem) throw new StoreError('damaged', problem.problem);
  } finally {
    db.close();
  }
}

/**
 * Rewrites a sealed day into `growing` without the data of a source. Returns the number of omitted rows. The file is
 * complete and durable when the function returns. An incomplete file of an earlier attempt is removed first.
 */
export function purgeSealedDay(sealed: string, growing: string, day: number, source: string): number {
  assertUnaltered(sealed, day);
  const db = createGrowingDay(growing);
  try {
    prepareGrowingDay(db, sealed);
    const number = db.prepare<[string], number>('SELECT id FROM day.source WHERE name = ?').pluck().get(source) ?? -1;
    const rows = copyRows(db, growing, `source <> ${number}`);
    const before = db.prepare<[], number>('SELECT count(*) FROM day.observation').pluck().get() ?? 0;
    for (const table of sharedTables) {
      const condition = ['counter_hour', 'refusal'].includes(table) ? `WHERE source <> ${number}` : '';
      db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table} ${condition}`);
    }
    db.prepare('INSERT INTO main.counter_minute SELECT * FROM day.counter_minute WHERE source <> ?').run(number);
    copyLabelerCounters(db, day, number);
    db.prepare('DELETE FROM main.meta WHERE name = ?').run(metaNames.rows);
    db.prepare(
      'INSERT INTO main.meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    ).run(metaNames.purged, before - rows);
    completeSealedDay(db, rows);
    const counted = db
      .prepare<[], number>('SELECT COALESCE(sum(applied + removed), 0) FROM main.counter_hour')
      .pluck()
      .get();
    if (counted !== rows)
      throw new StoreError(
        'damaged',
        `${sealed}: the remaining counters count ${counted} rows, but ${rows} rows remain`,
      );
    db.exec('DETACH day');
    keepChecksums(db, day);
    return before - rows;
  } catch (error) {
    throw storeError(error, growing);
  } finally {
    db.close();
    flush(growing);
  }
}

/** Copies the rows that match an SQL condition, in file order. Returns their number. */
function copyRows(db: Sqlite, growing: string, condition: string): number {
  const columns = rowColumns.replace('id, subject', 'subject, id');
  const boundary = db
    .prepare<[SubjectKey, number, number], readonly [SubjectKey, number]>(
      'SELECT subject, id FROM day.observation WHERE (subject, id) > (?, ?) ORDER BY subject, id LIMIT 1 OFFSET ?',
    )
    .raw();
  const some = `INSERT INTO main.observation(${columns}) SELECT ${columns} FROM day.observation
    WHERE (subject, id) > (?, ?)`;
  const copyTo = db.prepare(`${some} AND (subject, id) <= (?, ?) AND ${condition} ORDER BY subject, id`);
  const copyRest = db.prepare(`${some} AND ${condition} ORDER BY subject, id`);
  let rows = 0;
  // The empty text sorts before every subject: SQLite sorts text before bytes, and no subject is empty.
  let after: readonly [SubjectKey, number] = ['', 0];
  for (;;) {
    const through = boundary.get(...after, rowsAtOnce - 1);
    rows += (through ? copyTo.run(...after, ...through) : copyRest.run(...after)).changes;
    if (!through) return rows;
    flush(growing);
    after = through;
  }
}

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
