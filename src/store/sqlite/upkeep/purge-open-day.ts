import { minute } from '../../time.ts';
import { openWritable, pageBytes, type Sqlite, setPragma } from '../base/connection.ts';
import type { Faults } from '../base/faults.ts';
import { removalFlag, type SubjectKey, subjectName } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { openDaySubtraction } from '../hot/hot-counts.ts';
import { labelerCounterSubtraction } from '../labeler/counter-changes.ts';
import { countedRow } from '../labeler/day-counters.ts';
import { metaNames } from '../schema/day-schema.ts';
import { assertLogRoom } from '../schema/log-room.ts';
import { targetSql } from '../schema/row-sql.ts';

/** Maximum rows removed per commit; with their index pages, they are within the smallest log limit. */
const rowsAtOnce = 500;
/**
 * Maximum minutes with rows of the source that one commit processes, because each requires a scan of all rows of that
 * minute.
 */
const minutesAtOnce = 30;
/** Number of minutes per day. */
const perDay = 1_440;
const cacheBytes = 8 * 1024 * 1024;
/**
 * Maximum bytes written by a commit: pages of the table, the index and the stored counts for each row, and some
 * counters.
 */
const maxCommitBytes = rowsAtOnce * 5 * (pageBytes + 24) + 3 * 1024 * 1024;

/** Options of the writer of an open day that also apply to its purge. */
export interface OpenDayOptions {
  readonly maxLogBytes: number;
  readonly durable: boolean;
  readonly faults: Faults | undefined;
}

/** A row to be removed; `target` is a value of `targetSql`. */
type Row = readonly [
  id: number,
  subject: SubjectKey,
  val: number,
  target: number,
  removal: number,
  identity: Buffer,
  flags: number,
  cts: number | null,
  ctsText: string | null,
];

/**
 * Removes a source's rows from an open day over a separate connection. The source's name, and values without other
 * rows, stay until the day is sealed, because a reader may have cached their numbers.
 */
export class OpenDayPurge {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #day: number;
  readonly #options: OpenDayOptions;
  /** Number of the source in this file, or undefined if the file does not contain it. */
  readonly #source: number | undefined;
  readonly #removeRows: (rows: readonly Row[]) => void;
  /** Next minute of the day to process, and the first unprocessed row of that minute. */
  #minute = 0;
  #from = 0;

  constructor(path: string, day: number, source: string, options: OpenDayOptions) {
    this.#path = path;
    this.#day = day;
    this.#options = options;
    this.#db = openWritable(path, cacheBytes, options.durable);
    try {
      setPragma(this.#db, 'secure_delete', 1);
      this.#source = this.#db.prepare<[string], number>('SELECT id FROM source WHERE name = ?').pluck().get(source);
      this.#removeRows = this.#source === undefined ? () => undefined : this.#prepare(this.#source);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Returns true if the file contains rows or refusals of the purged source. */
  holdsAny(): boolean {
    if (this.#source === undefined) return false;
    const any = this.#db
      .prepare<[number, number], 1>(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM counter_hour WHERE source = ?)
         OR EXISTS (SELECT 1 FROM refusal WHERE source = ?)`,
      )
      .pluck();
    return any.get(this.#source, this.#source) !== undefined;
  }

  /** Removes some rows in one durable commit and returns their identities; empty if no row remains. */
  removeSome(): readonly Buffer[] {
    const rows = this.#nextRows();
    if (rows.length === 0) return [];
    this.#change(() => this.#removeRows(rows));
    return rows.map(([, , , , , identity]) => identity);
  }

  /** Removes the refusals of the source. */
  removeRest(): void {
    const refusals = this.#db.prepare('DELETE FROM refusal WHERE source = ?');
    this.#change(() => refusals.run(this.#source ?? null));
  }

  close(): void {
    this.#db.close();
  }

  #change(work: () => void): void {
    assertLogRoom(this.#db, this.#path, maxCommitBytes, this.#options.maxLogBytes);
    try {
      this.#db.transaction(work).immediate();
    } catch (error) {
      throw storeError(error, this.#path);
    }
  }

  /** Returns the next rows in order of acceptance, located by the counters of the minutes. */
  #nextRows(): Row[] {
    const counted = this.#db
      .prepare<[number, number], 1>('SELECT 1 FROM counter_minute WHERE minute = ? AND source = ?')
      .pluck();
    const read = this.#db
      .prepare<[number, number, number, number], Row>(
        `SELECT id, subject, val, ${targetSql}, flags & ${removalFlag} <> 0, identity, flags, cts, cts_text FROM observation
         WHERE id >= ? AND id < ? AND source = ? ORDER BY id LIMIT ?`,
      )
      .raw();
    const rows: Row[] = [];
    const enough = (looked: number): boolean =>
      rows.length >= rowsAtOnce || (looked >= minutesAtOnce && rows.length > 0);
    for (let looked = 0; this.#minute < perDay && !enough(looked); ) {
      const at = this.#day * perDay + this.#minute;
      const left = rowsAtOnce - rows.length;
      let found: Row[] = [];
      if (counted.get(at, this.#source ?? -1) !== undefined) {
        looked += 1;
        found = read.all(Math.max(at * minute, this.#from), (at + 1) * minute, this.#source ?? -1, left);
        rows.push(...found);
      }
      if (found.length === left) this.#from = (rows.at(-1)?.[0] ?? 0) + 1;
      else this.#minute += 1;
    }
    return rows;
  }

  #prepare(source: number): (rows: readonly Row[]) => void {
    const db = this.#db;
    const remove = db.prepare<[number]>('DELETE FROM observation WHERE id = ?');
    const counters = (['minute', 'hour'] as const).map((bucket) => ({
      length: bucket === 'minute' ? minute : 60 * minute,
      lower: db.prepare(
        `UPDATE counter_${bucket} SET applied = applied - ?, removed = removed - ? WHERE ${bucket} = ? AND source = ?`,
      ),
      drop: db.prepare(
        `DELETE FROM counter_${bucket} WHERE ${bucket} = ? AND source = ? AND applied = 0 AND removed = 0`,
      ),
    }));
    const subtract = openDaySubtraction(db);
    const subtractFromLabeler = labelerCounterSubtraction(db);
    const count = db.prepare(
      'INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
    );
    const { faults } = this.#options;
    return (rows) => {
      for (const [id] of rows) remove.run(id);
      for (const { length, lower, drop } of counters) {
        for (const [bucket, [applied, removed]] of sums(rows, ([id]) => Math.floor(id / length))) {
          lower.run(applied, removed, bucket, source);
          drop.run(bucket, source);
        }
      }
      const byGroup = new Map(rows.map((row) => [groupName(row), row]));
      for (const [name, [applied, removed]] of sums(rows, groupName)) {
        const row = byGroup.get(name);
        if (row) subtract({ subject: row[1], source, val: row[2], target: row[3], applied, removed });
      }
      const removed = rows.map(([id, , val, , , , ...rest]) => ({ id, ...countedRow(id, val, ...rest) }));
      subtractFromLabeler(source, removed);
      count.run(metaNames.purged, rows.length);
      faults?.('purge.removed');
    };
  }
}

function groupName([, subject, val, target]: Row): string {
  return `${subjectName(subject)} ${val} ${target}`;
}

/** Returns the numbers of applications and removals among rows, by a key. */
function sums<Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, [applied: number, removed: number]> {
  const found = new Map<Key, [number, number]>();
  for (const row of rows) {
    const [applied, removed] = found.get(keyOf(row)) ?? [0, 0];
    found.set(keyOf(row), [applied + 1 - row[4], removed + row[4]]);
  }
  return found;
}
