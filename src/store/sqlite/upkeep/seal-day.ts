import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import { dayName, minute } from '../../time.ts';
import {
  migrate,
  openImmutable,
  openWritable,
  pageBytes,
  type Sqlite,
  setPragma,
  storeError,
} from '../base/connection.ts';
import { flush, removeDatabase } from '../base/files.ts';
import { packStamps, removalFlag, rowColumns, type SubjectKey } from '../base/row.ts';
import { checkDay, keepChecksums } from '../blocks/blocks.ts';
import { keepFilter } from '../day/account-rows.ts';
import { storeSealedDayCounts } from '../hot/hot-counts.ts';
import { copyLabelerCounters, dropEmptyCounters, recountNewDay } from '../labeler/stored-counters.ts';
import { aboutSpaceSql, DayFile, hasChecksums, metaNames, sealedDayMigrations } from '../schema/day-schema.ts';

/** Task of the worker thread, which writes a sealed day. */
export type DayTask = { readonly day: number } & (
  | {
      /**
       * `seal` writes the sealed form of an open day. `check` and `repair` rewrite a sealed day and add checksums. If
       * the counters do not match the rows, `check` fails, and `repair` recomputes them. `spaces` writes a sealed day
       * without its rows about records in spaces; it writes no file if the day has no such rows.
       */
      readonly kind: 'seal' | 'check' | 'repair' | 'spaces';
    }
  /** Writes a sealed day without the data of a source. */
  | { readonly kind: 'purge'; readonly source: string }
);

/**
 * Writes a sealed day from the file `from` into `growing`. The new file is complete and durable when the function
 * returns. An incomplete file of an earlier attempt is removed first. Returns the number of rows, or for `purge` and
 * `spaces` the number of omitted rows.
 */
export function writeDay(task: DayTask, from: string, growing: string): number {
  const { day } = task;
  if (task.kind === 'seal') return sealDay(from, growing, day);
  if (task.kind === 'purge') return purgeSealedDay(from, growing, day, task.source);
  if (task.kind === 'spaces') return writeWithoutSpaceRows(from, growing, day);
  return rebuildDay(from, growing, day, task.kind === 'check');
}

/** Size of the page cache while a sealed day is written, in bytes; one cache each for the source and the new file. */
const growingCacheBytes = 32 * 1024 * 1024;

/**
 * Creates the file `growing` with the schema of a sealed day, and fills it while the source file is attached as the
 * database `day`. The new file has no journal on disk: until it is flushed, a crash leaves an unusable file. `named` is
 * the file that error messages name.
 */
function writeFile(from: string, growing: string, fill: (db: Sqlite) => number, named = growing): number {
  removeDatabase(growing);
  const db = new Database(growing, { timeout: 0 });
  try {
    setPragma(db, 'page_size', pageBytes);
    setPragma(db, 'journal_mode', 'memory');
    setPragma(db, 'synchronous', 0);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -growingCacheBytes / 1024);
    migrate(db, sealedDayMigrations, new Date().toISOString());
    db.prepare('ATTACH ? AS day').run(from);
    return fill(db);
  } catch (error) {
    throw storeError(error, named);
  } finally {
    db.close();
    flush(growing);
  }
}

/** Columns of a row in the order of a sealed day. */
const sealedColumns = rowColumns.replace('id, subject', 'subject, id');
/** Tables that are copied unchanged when a day is sealed. */
const sharedTables = ['source', 'val', 'collection', 'counter_hour', 'refusal', 'position', 'meta'] as const;

/**
 * Number of rows written between two flushes. Frequent flushes keep a concurrent writer from waiting until a whole day
 * is written to disk.
 */
const rowsAtOnce = 20_000;

/**
 * Writes the sealed form of a day, clustered by (subject, id), into `growing`. Returns the number of rows. Throws
 * `busy` if a stalled reader prevents a complete checkpoint of the day's log.
 */
function sealDay(open: string, growing: string, day: number): number {
  foldLog(open);
  return writeFile(open, growing, (db) => {
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
  });
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
  const some = `INSERT INTO main.observation(${sealedColumns}) SELECT ${sealedColumns} FROM day.observation
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
    .prepare<[number, number], Stamped>(
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
      const rows = read.all(at * minute, (at + 1) * minute);
      for (const [source, own] of Map.groupBy(rows, ([, source]) => source)) {
        if (write.run(packedStamps(at, own), at, source).changes !== 1) {
          throw new StoreError('damaged', `minute ${at} has rows but no counter`);
        }
      }
    }
  })();
}

/** Id, source and removal flag of a row. */
type Stamped = readonly [id: number, source: number, removal: number];

function packedStamps(at: number, rows: readonly Stamped[]): Buffer {
  return packStamps(rows.map(([id, , removal]) => ({ offset: id - at * minute, removed: removal !== 0 })));
}

/** Tables that a rewrite copies unchanged, because their content cannot be derived from the rows. */
const takenOver = ['source', 'val', 'collection', 'refusal', 'position', 'meta'] as const;

/**
 * Rewrites a sealed day into `growing` with the same rows, and with recomputed counters, groups, filter and checksums.
 * With `isStrict`, throws `damaged` if the stored counters do not match the rows, because checksums must not certify
 * wrong data. Returns the number of rows.
 */
function rebuildDay(sealed: string, growing: string, day: number, isStrict: boolean): number {
  const fill = (db: Sqlite): number => {
    const copy = `INSERT INTO main.observation(${sealedColumns}) SELECT ${sealedColumns} FROM day.observation ORDER BY subject, id`;
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
  };
  return writeFile(sealed, growing, fill, sealed);
}

/** Computes the counters of minutes and hours and the stamps of the minutes from the rows, and stores them. */
function countRows(db: Sqlite): void {
  const read = db
    .prepare<[], Stamped>(`SELECT id, source, flags & ${removalFlag} FROM main.observation ORDER BY id`)
    .raw();
  const counters: [number, number, number, number, Buffer][] = [];
  let at = -1;
  let rows: Stamped[] = [];
  const close = (): void => {
    for (const [source, own] of Map.groupBy(rows, ([, source]) => source)) {
      const removed = own.filter(([, , removal]) => removal !== 0).length;
      counters.push([at, source, own.length - removed, removed, packedStamps(at, own)]);
    }
    rows = [];
  };
  for (const row of read.iterate()) {
    const of = Math.floor(row[0] / minute);
    if (of !== at) close();
    at = of;
    rows.push(row);
  }
  close();
  const write = db.prepare(
    'INSERT INTO main.counter_minute(minute, source, applied, removed, stamps) VALUES (?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (const counter of counters) write.run(...counter);
    db.exec(`INSERT INTO main.counter_hour SELECT minute / 60, source, sum(applied), sum(removed)
      FROM main.counter_minute GROUP BY 1, 2`);
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
 * Throws `damaged` if a part of a day does not match its checksum, because the checksums of a rewritten file would
 * certify wrong data.
 */
function assertUnaltered(sealed: string, day: number): void {
  // A day of an earlier version has no checksums; the caller only compares its rows with its counters.
  if (!hasChecksums(sealed)) return;
  const { value: problem } = reading(sealed, (db) => checkDay(new DayFile(db, sealed), day).next());
  if (problem) throw new StoreError('damaged', problem.problem);
}

/**
 * Rewrites a sealed day into `growing` without the data of a source. Returns the number of omitted rows.
 */
function purgeSealedDay(sealed: string, growing: string, day: number, source: string): number {
  assertUnaltered(sealed, day);
  return writeFile(sealed, growing, (db) => {
    const number = db.prepare<[string], number>('SELECT id FROM day.source WHERE name = ?').pluck().get(source) ?? -1;
    const rows = copyMatching(db, growing, `source <> ${number}`);
    const before = db.prepare<[], number>('SELECT count(*) FROM day.observation').pluck().get() ?? 0;
    for (const table of sharedTables) {
      const condition = ['counter_hour', 'refusal'].includes(table) ? `WHERE source <> ${number}` : '';
      db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table} ${condition}`);
    }
    db.prepare('INSERT INTO main.counter_minute SELECT * FROM day.counter_minute WHERE source <> ?').run(number);
    copyLabelerCounters(db, day, number);
    countPurged(db, before - rows);
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
  });
}

/** Adds omitted rows to the number of purged rows of the day, and removes the number of rows of the old file. */
function countPurged(db: Sqlite, rows: number): void {
  db.prepare('DELETE FROM main.meta WHERE name = ?').run(metaNames.rows);
  db.prepare(
    'INSERT INTO main.meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
  ).run(metaNames.purged, rows);
}

/** Copies the rows that match an SQL condition, in file order. Returns their number. */
function copyMatching(db: Sqlite, growing: string, condition: string): number {
  const boundary = db
    .prepare<[SubjectKey, number, number], readonly [SubjectKey, number]>(
      'SELECT subject, id FROM day.observation WHERE (subject, id) > (?, ?) ORDER BY subject, id LIMIT 1 OFFSET ?',
    )
    .raw();
  const some = `INSERT INTO main.observation(${sealedColumns}) SELECT ${sealedColumns} FROM day.observation
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
 * omitted rows. If the day has no such rows, writes no file and returns 0.
 */
function writeWithoutSpaceRows(sealed: string, growing: string, day: number): number {
  const before = countOf(sealed);
  if (before.aboutSpaces === 0) return 0;
  assertUnaltered(sealed, day);
  return writeFile(sealed, growing, (db) => {
    const rows = copyMatching(db, growing, `NOT ${aboutSpaceSql('day')}`);
    for (const table of takenOver) db.exec(`INSERT INTO main.${table} SELECT * FROM day.${table}`);
    countRows(db);
    countPurged(db, before.rows - rows);
    recountNewDay(db, day);
    db.exec('DETACH day');
    completeSealedDay(db, rows);
    keepChecksums(db, day);
    return before.rows - rows;
  });
}

/** Returns the number of all rows of a sealed day, and the number of rows about spaces. */
function countOf(sealed: string): { readonly rows: number; readonly aboutSpaces: number } {
  const sql = `SELECT count(*) AS rows, coalesce(sum(${aboutSpaceSql('main')}), 0) AS aboutSpaces FROM observation`;
  const count = (db: Sqlite) => db.prepare<[], { rows: number; aboutSpaces: number }>(sql).get();
  return reading(sealed, count) ?? { rows: 0, aboutSpaces: 0 };
}

/** Runs a query on a sealed day's file. */
function reading<T>(sealed: string, query: (db: Sqlite) => T): T {
  const db = openImmutable(sealed, growingCacheBytes);
  try {
    return query(db);
  } catch (error) {
    throw storeError(error, sealed);
  } finally {
    db.close();
  }
}
