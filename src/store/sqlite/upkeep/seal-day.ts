import { StoreError } from '../../errors.ts';
import { dayName, minute } from '../../time.ts';
import { openImmutable, openReadonly, openWritable, type Sqlite, setPragma, storeError } from '../base/connection.ts';
import { type DayForm, flush } from '../base/files.ts';
import { packStamps, removalFlag, rowColumns, type Stamp, type SubjectKey } from '../base/row.ts';
import { checkDay, keepChecksums } from '../blocks/blocks.ts';
import { storeSealedDayCounts } from '../hot/hot-counts.ts';
import { copyLabelerCounters, dropEmptyCounters, recountNewDay } from '../labeler/stored-counters.ts';
import {
  aboutSpaceSql,
  createGrowingDay,
  DayFile,
  growingCacheBytes,
  metaNames,
  prepareGrowingDay,
  sharedTables,
} from '../schema/day-schema.ts';
import { keepFilter } from '../schema/subject-filter.ts';
import { hasChecksums } from './replace-day.ts';

/**
 * Number of rows written between two flushes. Frequent flushes keep a concurrent writer from waiting until a whole day
 * is written to disk.
 */
const rowsAtOnce = 20_000;

/**
 * Writes the sealed form of a day, clustered by (subject, id), into `growing`. Returns the number of rows. The file is
 * complete and durable when the function returns. An incomplete file of an earlier attempt is removed first. Throws
 * `busy` if a stalled reader prevents a complete checkpoint of the day's log.
 */
export function sealDay(open: string, growing: string, day: number): number {
  foldLog(open);
  const db = createGrowingDay(growing);
  try {
    prepareGrowingDay(db, open);
    const rows = copyRows(db, growing);
    for (const table of sharedTables) db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table}`);
    copyLabelerCounters(db, day);
    copyStamps(db, day);
    const expected = db.prepare<[], number>('SELECT count(*) FROM day.observation').pluck().get();
    if (expected !== rows)
      throw new StoreError('damaged', `${open} has ${expected} rows, but its index by subject has ${rows}`);
    completeSealedDay(db, rows);
    db.exec('DETACH day');
    keepChecksums(db, day);
    return rows;
  } catch (error) {
    throw storeError(error, growing);
  } finally {
    db.close();
    flush(growing);
  }
}

/**
 * Computes and stores the data derived from the rows, after all rows of a sealed day are copied. If rows of the day
 * were purged, also removes the counters and names that no longer have rows.
 */
function completeSealedDay(db: Sqlite, rows: number): void {
  if (db.prepare('SELECT 1 FROM main.meta WHERE name = ?').get(metaNames.purged) !== undefined) {
    dropEmptyCounters(db);
    dropUnusedNames(db);
  }
  storeSealedDayCounts(db);
  keepFilter(db);
  db.prepare('INSERT INTO main.meta(name, value) VALUES (?, ?)').run(metaNames.rows, rows);
}

/**
 * Removes names without rows, which remain after a purge, from the tables. Also overwrites them in the file's free
 * space.
 */
function dropUnusedNames(db: Sqlite): void {
  setPragma(db, 'secure_delete', 1);
  db.exec(`DELETE FROM main.source WHERE id NOT IN (SELECT source FROM main.counter_hour)
    AND id NOT IN (SELECT source FROM main.refusal);
DELETE FROM main.val WHERE id NOT IN (SELECT val FROM main.observation);
DELETE FROM main.collection WHERE id NOT IN (SELECT collection FROM main.observation WHERE collection IS NOT NULL);`);
}

/** Checkpoints the day's log into its file, so that the log is empty and can be removed. */
function foldLog(open: string): void {
  const db = openWritable(open, 1024 * 1024);
  try {
    db.pragma('busy_timeout = 0');
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
    if (result?.busy !== 0) throw new StoreError('busy', `a reader is using the write-ahead log of ${open}`);
    // Read the file sequentially to warm the cache, because the following queries read it in subject order.
    db.prepare('SELECT sum(length(identity)) FROM observation').get();
  } catch (error) {
    throw storeError(error, open);
  } finally {
    db.close();
  }
}

function copyRows(db: Sqlite, growing: string): number {
  const boundary = db
    .prepare<[SubjectKey, number], SubjectKey>(
      'SELECT subject FROM day.observation WHERE subject > ? ORDER BY subject LIMIT 1 OFFSET ?',
    )
    .pluck();
  const columns = rowColumns.replace('id, subject', 'subject, id');
  const some = `INSERT INTO main.observation(${columns}) SELECT ${columns} FROM day.observation
    INDEXED BY observation_subject WHERE subject > ?`;
  const copyTo = db.prepare<[SubjectKey, SubjectKey]>(`${some} AND subject <= ? ORDER BY subject, id`);
  const copyRest = db.prepare<[SubjectKey]>(`${some} ORDER BY subject, id`);
  let rows = 0;
  // The empty text sorts before every subject: SQLite sorts text before bytes, and no subject is empty.
  let after: SubjectKey = '';
  for (;;) {
    const through = boundary.get(after, rowsAtOnce - 1);
    rows += through === undefined ? copyRest.run(after).changes : copyTo.run(after, through).changes;
    if (through === undefined) return rows;
    flush(growing);
    after = through;
  }
}

/** Copies the minute counters and adds the packed stamps of their rows. */
function copyStamps(db: Sqlite, day: number): void {
  const read = db
    .prepare<[number, number], [number, number, number]>(
      `SELECT id, source, flags & ${removalFlag} FROM day.observation WHERE id >= ? AND id < ? ORDER BY id`,
    )
    .raw();
  const write = db.prepare(
    `INSERT INTO main.counter_minute SELECT minute, source, applied, removed, ? FROM day.counter_minute
     WHERE minute = ? AND source = ?`,
  );
  const perDay = 1_440;
  db.transaction(() => {
    for (let at = day * perDay; at < (day + 1) * perDay; at++) {
      const bySource = new Map<number, Stamp[]>();
      for (const [id, source, removal] of read.iterate(at * minute, (at + 1) * minute)) {
        const stamps = bySource.get(source) ?? [];
        stamps.push({ offset: id - at * minute, removed: removal !== 0 });
        bySource.set(source, stamps);
      }
      for (const [source, stamps] of bySource) {
        if (write.run(packStamps(stamps), at, source).changes !== 1) {
          throw new StoreError('damaged', `minute ${at} has rows but no counter`);
        }
      }
    }
  })();
}

/** Tables that a rewrite copies unchanged, because their content cannot be derived from the rows. */
const takenOver = ['source', 'val', 'collection', 'refusal', 'position', 'meta'] as const;

/**
 * Rewrites a sealed day into `growing` with the same rows, and with recomputed counters, groups, filter and checksums.
 * With `isStrict`, throws `damaged` if the stored counters do not match the rows, because checksums must not certify
 * wrong data. Returns the number of rows. The file is complete and durable when the function returns.
 */
export function rebuildDay(sealed: string, growing: string, day: number, isStrict: boolean): number {
  const db = createGrowingDay(growing);
  try {
    prepareGrowingDay(db, sealed);
    const columns = rowColumns.replace('id, subject', 'subject, id');
    const copy = `INSERT INTO main.observation(${columns}) SELECT ${columns} FROM day.observation ORDER BY subject, id`;
    const rows = db.prepare(copy).run().changes;
    for (const table of takenOver) db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table}`);
    countRows(db);
    setMeta(db, rows);
    recountNewDay(db, day);
    if (isStrict) assertSame(db, day);
    db.exec('DETACH day');
    storeSealedDayCounts(db);
    keepFilter(db);
    keepChecksums(db, day);
    return rows;
  } catch (error) {
    throw storeError(error, sealed);
  } finally {
    db.close();
    flush(growing);
  }
}

/** Computes the counters of minutes and hours from the rows and stores them. */
function countRows(db: Sqlite): void {
  countMinutes(db);
  db.exec(`INSERT INTO main.counter_hour SELECT minute / 60, source, sum(applied), sum(removed)
    FROM main.counter_minute GROUP BY 1, 2`);
}

/** Computes the counters of minutes and their stamps from the rows and stores them. */
function countMinutes(db: Sqlite): void {
  const read = db
    .prepare<[], [number, number, number]>(
      `SELECT id, source, flags & ${removalFlag} FROM main.observation ORDER BY id`,
    )
    .raw();
  const counters: [number, number, number, number, Buffer][] = [];
  let at = -1;
  let bySource = new Map<number, Stamp[]>();
  const close = (): void => {
    for (const [source, stamps] of bySource) {
      const removed = stamps.filter((stamp) => stamp.removed).length;
      counters.push([at, source, stamps.length - removed, removed, packStamps(stamps)]);
    }
    bySource = new Map();
  };
  for (const [id, source, removal] of read.iterate()) {
    if (Math.floor(id / minute) !== at) close();
    at = Math.floor(id / minute);
    const stamps = bySource.get(source) ?? [];
    stamps.push({ offset: id - at * minute, removed: removal !== 0 });
    bySource.set(source, stamps);
  }
  close();
  const write = db.prepare(
    'INSERT INTO main.counter_minute(minute, source, applied, removed, stamps) VALUES (?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (const counter of counters) write.run(...counter);
  })();
}

function setMeta(db: Sqlite, rows: number): void {
  const set = db.prepare(
    'INSERT INTO main.meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const last = db.prepare<[], number | null>('SELECT max(id) FROM main.observation').pluck().get() ?? null;
  set.run(metaNames.rows, rows);
  if (last !== null) set.run(metaNames.last, last);
}

function assertSame(db: Sqlite, day: number): void {
  const compared = {
    counter_minute: 'minute, source, applied, removed, stamps FROM $.counter_minute',
    counter_hour: 'hour, source, applied, removed FROM $.counter_hour',
    // Exclude this entry: if the old day had no counters per labeler, only the rebuilt day has the entry.
    meta: `name, value FROM $.meta WHERE name <> '${metaNames.countedFrom}'`,
  };
  for (const [table, columns] of Object.entries(compared)) {
    const [rebuilt, kept] = ['main', 'day'].map((of) => `SELECT ${columns.replace('$', of)}`);
    for (const sql of [`${rebuilt} EXCEPT ${kept}`, `${kept} EXCEPT ${rebuilt}`]) {
      if (db.prepare(`${sql} LIMIT 1`).get() === undefined) continue;
      const what = `${dayName(day)}: the table ${table} does not match the rows of the day`;
      throw new StoreError('damaged', `${what}: run almanac labels verify --repair to recompute it`);
    }
  }
}

/**
 * Returns true if a sealed day contains a source's name, which means that the day has rows or refusals of the source.
 */
export function sealedDayNames(path: string, source: string): boolean {
  const named = 'SELECT 1 FROM source WHERE name = ?';
  return reading(path, 1024 * 1024, (db) => db.prepare(named).get(source) !== undefined);
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
    const rows = copyMatching(db, growing, `source <> ${number}`);
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
function copyMatching(db: Sqlite, growing: string, condition: string): number {
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
    const rows = copyMatching(db, growing, `NOT ${aboutSpaceSql('day')}`);
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
  const sql = 'SELECT value FROM meta WHERE name = ?';
  const value = (db: Sqlite) => db.prepare<[string], number>(sql).pluck().get(metaNames.purged);
  return reading(path, 1024 * 1024, value, form) ?? 0;
}

/** Returns the number of all rows of a sealed day, and the number of rows about spaces. */
function countOf(sealed: string): { readonly rows: number; readonly aboutSpaces: number } {
  const sql = `SELECT count(*) AS rows, coalesce(sum(${aboutSpaceSql('main')}), 0) AS aboutSpaces FROM observation`;
  const count = (db: Sqlite) => db.prepare<[], { rows: number; aboutSpaces: number }>(sql).get();
  return reading(sealed, growingCacheBytes, count) ?? { rows: 0, aboutSpaces: 0 };
}

/** Runs a query on a day's file. */
function reading<T>(path: string, cacheBytes: number, query: (db: Sqlite) => T, form: DayForm = 'sealed'): T {
  const db = (form === 'sealed' ? openImmutable : openReadonly)(path, cacheBytes);
  try {
    return query(db);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}
