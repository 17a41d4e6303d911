import { maxCountedValueBytes } from '../../labeler-counters.ts';
import { dayStart } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import type { StoredRow } from '../base/row.ts';
import { metaNames } from '../schema/day-schema.ts';
import {
  addRow,
  type CountedRow,
  countedColumns,
  countedRow,
  countedStoredRow,
  type DayCounters,
  emptyCounters,
  isEmpty,
  packCounters,
  subtractRow,
  unpackCounters,
} from './day-counters.ts';

/** Changes the counters of labelers in a file, in the caller's transaction. */
class WrittenCounters {
  readonly #path: string;
  readonly #read: (source: number) => unknown;
  readonly #write: (source: number, packed: Buffer) => void;

  constructor(db: Sqlite) {
    this.#path = db.name;
    const read = db.prepare<[number], unknown>('SELECT packed FROM main.counter_labeler WHERE source = ?').pluck();
    const write = db.prepare(
      `INSERT INTO main.counter_labeler(source, packed) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET packed = excluded.packed`,
    );
    this.#read = (source) => read.get(source);
    this.#write = (source, packed) => write.run(source, packed);
  }

  change(source: number, work: (counters: DayCounters) => void): void {
    const packed = this.#read(source);
    const counters = packed === undefined ? emptyCounters() : unpackCounters(packed, source, this.#path);
    work(counters);
    this.#write(source, packCounters(counters, source, this.#path));
  }
}

/**
 * Returns a function that adds stored rows to the counters of their labelers. `textOf` returns the value of the row
 * at the given index as text.
 */
export function labelerCounterWriter(
  db: Sqlite,
): (rows: readonly StoredRow[], textOf: (row: number) => string) => void {
  const counters = new WrittenCounters(db);
  return (rows, textOf) => {
    const bySource = Map.groupBy(rows.keys(), (at) => rows[at]?.[2] ?? 0);
    for (const [source, indexes] of bySource) {
      counters.change(source, (counted) => {
        for (const at of indexes) {
          const row = rows[at];
          if (row) addRow(counted, countedStoredRow(row), isLongValue(textOf(at)));
        }
      });
    }
  };
}

/** Returns true if a value is too long to be counted by name. */
function isLongValue(value: string): boolean {
  return value.length > maxCountedValueBytes || Buffer.byteLength(value) > maxCountedValueBytes;
}

/** A removed row and its stamp. */
type RemovedRow = CountedRow & { readonly id: number };

/**
 * Returns a function that subtracts removed rows of a labeler from its counters in an open day, in the caller's
 * transaction. Ignores rows that an earlier version accepted, because they were never counted. The function has no
 * effect on a file without counters.
 */
export function labelerCounterSubtraction(db: Sqlite): (source: number, rows: readonly RemovedRow[]) => void {
  if (!hasCounters(db, 'main')) return () => undefined;
  const counters = new WrittenCounters(db);
  const from = db.prepare<[string], number>('SELECT value FROM meta WHERE name = ?').pluck().get(metaNames.countedFrom);
  return (source, rows) => {
    const counted = rows.filter(({ id }) => id >= (from ?? 0));
    if (counted.length === 0) return;
    counters.change(source, (kept) => {
      for (const row of counted) subtractRow(kept, row);
    });
  };
}

/** Returns true if a file has counters per labeler. */
function hasCounters(db: Sqlite, schema: 'main' | 'day'): boolean {
  return db.prepare(`SELECT 1 FROM ${schema}.sqlite_schema WHERE name = 'counter_labeler'`).get() !== undefined;
}

/** Removes the counters of labelers without rows, and the counts of values without rows, from a new sealed day. */
export function dropEmptyCounters(db: Sqlite): void {
  const stored = db.prepare<[], [number, unknown]>('SELECT source, packed FROM main.counter_labeler').raw().all();
  const drop = db.prepare('DELETE FROM main.counter_labeler WHERE source = ?');
  const write = db.prepare('UPDATE main.counter_labeler SET packed = ? WHERE source = ?');
  for (const [source, packed] of stored) {
    const counters = unpackCounters(packed, source, db.name);
    if (isEmpty(counters)) {
      drop.run(source);
      continue;
    }
    for (const [value, [applied, removed]] of counters.values) {
      if (applied + removed === 0) counters.values.delete(value);
    }
    write.run(packCounters(counters, source, db.name), source);
  }
}

/**
 * Copies the labeler counters of the attached database `day` to a new sealed day, except the counters of the labeler
 * with the numeric id `without`. If the attached day has no counters, the new day records that its rows are not
 * counted.
 */
export function copyLabelerCounters(db: Sqlite, day: number, without = -1): void {
  if (!hasCounters(db, 'day')) setUncounted(db, day);
  else db.prepare('INSERT INTO main.counter_labeler SELECT * FROM day.counter_labeler WHERE source <> ?').run(without);
}

/**
 * Computes the labeler counters of a new sealed day from its rows. If the attached database `day` has no counters,
 * records that the rows of the new day are not counted.
 */
export function recountNewDay(db: Sqlite, day: number): void {
  if (hasCounters(db, 'day')) recountLabelers(db);
  else setUncounted(db, day);
}

function setUncounted(db: Sqlite, day: number): void {
  db.prepare('INSERT INTO main.meta(name, value) VALUES (?, ?)').run(metaNames.countedFrom, dayStart(day + 1));
}

/**
 * Recomputes the labeler counters from the counted rows, in order of acceptance, and replaces the stored counters.
 * Has no effect on a file without counters.
 */
export function recountLabelers(db: Sqlite): void {
  if (!hasCounters(db, 'main')) return;
  const from = db.prepare<[string], number>('SELECT value FROM main.meta WHERE name = ?').pluck();
  const long = db
    .prepare<[number], number>('SELECT id FROM main.val WHERE length(CAST(name AS BLOB)) > ?')
    .pluck()
    .all(maxCountedValueBytes);
  const longValues = new Set(long);
  const read = db
    .prepare<[number], [number, ...Parameters<typeof countedRow>]>(
      `SELECT source, ${countedColumns} FROM main.observation WHERE id >= ? ORDER BY id`,
    )
    .raw();
  const bySource = new Map<number, DayCounters>();
  for (const [source, ...columns] of read.iterate(from.get(metaNames.countedFrom) ?? 0)) {
    const row = countedRow(...columns);
    const counters = bySource.get(source) ?? emptyCounters();
    bySource.set(source, counters);
    addRow(counters, row, longValues.has(row.value));
  }
  const write = db.prepare('INSERT INTO main.counter_labeler(source, packed) VALUES (?, ?)');
  db.transaction(() => {
    db.exec('DELETE FROM main.counter_labeler');
    for (const [source, counters] of bySource) write.run(source, packCounters(counters, source, db.name));
  })();
}
