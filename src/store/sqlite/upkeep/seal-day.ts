import { StoreError } from '../../errors.ts';
import { dayName, minute } from '../../time.ts';
import { openWritable, type Sqlite, setPragma } from '../base/connection.ts';
import { flush } from '../base/files.ts';
import { removalFlag, type SubjectKey } from '../base/row.ts';
import { packStamps, type Stamp } from '../base/stamps.ts';
import { storeError } from '../base/store-error.ts';
import { keepChecksums } from '../blocks/checked-blocks.ts';
import { storeSealedDayCounts } from '../hot/hot-counts.ts';
import { copyLabelerCounters, dropEmptyCounters, recountNewDay } from '../labeler/counter-changes.ts';
import { createGrowingDay, metaNames, prepareGrowingDay, rowColumns, sharedTables } from '../schema/day-schema.ts';
import { keepFilter } from '../schema/subject-filter.ts';

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
export function completeSealedDay(db: Sqlite, rows: number): void {
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
export const takenOver = ['source', 'val', 'collection', 'refusal', 'position', 'meta'] as const;

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
export function countRows(db: Sqlite): void {
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
