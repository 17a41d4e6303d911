import { maxCountedValueBytes } from '../../labeler-counters.ts';
import type { Sqlite } from '../base/connection.ts';
import type { StoredRow } from '../base/row.ts';
import { metaNames } from '../schema/day-schema.ts';
import {
  addRow,
  type CountedRow,
  countedStoredRow,
  type DayCounters,
  emptyCounters,
  isEmpty,
  subtractRow,
} from './day-counters.ts';
import { packCounters, unpackCounters } from './packed-counters.ts';

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
export function isLongValue(value: string): boolean {
  return value.length > maxCountedValueBytes || Buffer.byteLength(value) > maxCountedValueBytes;
}

/** A removed row and its stamp. */
export type RemovedRow = CountedRow & { readonly id: number };

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
export function hasCounters(db: Sqlite, schema: 'main' | 'day'): boolean {
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
