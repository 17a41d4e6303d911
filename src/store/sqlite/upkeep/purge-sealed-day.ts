import { StoreError } from '../../errors.ts';
import { openImmutable, type Sqlite } from '../base/connection.ts';
import { flush } from '../base/flush.ts';
import type { SubjectKey } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { checkDay } from '../blocks/check-day.ts';
import { keepChecksums } from '../blocks/keep-checksums.ts';
import { copyLabelerCounters } from '../labeler/recount.ts';
import { DayFile } from '../schema/day-file.ts';
import { metaNames, rowColumns, sharedTables } from '../schema/day-schema.ts';
import { createGrowingDay, growingCacheBytes, prepareGrowingDay } from '../schema/growing-day.ts';
import { hasChecksums } from './replace-day.ts';
import { completeSealedDay } from './seal-day.ts';

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
export function assertUnaltered(sealed: string, day: number): void {
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
export function copyRows(db: Sqlite, growing: string, condition: string): number {
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
