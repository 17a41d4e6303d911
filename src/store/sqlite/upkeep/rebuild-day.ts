import { StoreError } from '../../errors.ts';
import { dayName, minute } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { flush } from '../base/flush.ts';
import { removalFlag } from '../base/row.ts';
import { packStamps, type Stamp } from '../base/stamps.ts';
import { storeError } from '../base/store-error.ts';
import { keepChecksums } from '../blocks/keep-checksums.ts';
import { storeSealedDayCounts } from '../hot/hot-counts.ts';
import { recountNewDay } from '../labeler/recount.ts';
import { metaNames, rowColumns } from '../schema/day-schema.ts';
import { createGrowingDay, prepareGrowingDay } from '../schema/growing-day.ts';
import { keepFilter } from '../schema/subject-filter.ts';

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
