import type Database from 'better-sqlite3';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { Batch, NewObservation, Position, RefusalReason } from '../../port.ts';
import { hour, minute } from '../../time.ts';
import { openWritable, pageBytes, type Sqlite } from '../base/connection.ts';
import type { Faults } from '../base/faults.ts';
import { migrate } from '../base/migrate.ts';
import { encodeRow, type Intern, type NameTable, type StoredRow } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { HotSubjectCounter } from '../groups/busy-counter.ts';
import { metaNames, openDayMigrations, rowColumns } from '../schema/day-schema.ts';
import { assertLogRoom } from '../schema/log-room.ts';
import { RememberedNames } from '../schema/remembered-names.ts';

/** Page cache for the current day; a commit that needs more uses more, because nothing is spilled. */
const cacheBytes = 32 * 1024 * 1024;
/** Bytes of one commit for tables, counters, first counts of hot subjects, and free-list pages. */
const commitOverhead = 3 * 1024 * 1024;

/** One commit of a day. */
export interface Commit {
  readonly rows: readonly { readonly observation: NewObservation; readonly at: number; readonly identity: Buffer }[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly at: Micros;
  /** The first stamp, also if there are no rows: refusals count in its hour. */
  readonly stamp: Micros;
  readonly bytes: number;
}

/** Data that a new day's file takes over from the previous one. */
export interface Carried {
  readonly generation: string;
  readonly positions: readonly Position[];
  readonly last: Micros | null;
  readonly through: Micros | null;
}

/** Options of the day writer. */
export interface DayWriterOptions {
  readonly maxLogBytes: number;
  readonly durable: boolean;
  readonly faults: Faults | undefined;
}

/** Writes the current day over the only connection that changes its file. */
export class DayWriter {
  readonly day: number;
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #maxLogBytes: number;
  readonly #names = new RememberedNames();
  readonly #write: (commit: Commit) => void;

  constructor(path: string, day: number, carried: Carried, appliedAt: string, options: DayWriterOptions) {
    const { maxLogBytes, durable, faults } = options;
    this.day = day;
    this.#path = path;
    this.#maxLogBytes = maxLogBytes;
    this.#db = openWritable(path, cacheBytes, durable);
    try {
      migrate(this.#db, openDayMigrations, appliedAt);
      faults?.('rollover.made');
      carryOver(this.#db, carried);
      this.#write = this.#prepare(faults);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Commits rows, counters, refusals and positions atomically; durable on return. */
  commit(commit: Commit): void {
    this.#admit(commit);
    try {
      this.#write(commit);
    } catch (error) {
      // Numbers assigned in a transaction that was rolled back are free again.
      this.#names.clear();
      throw storeError(error, this.#path);
    }
  }

  /** Limits the file's pages, so that a test can simulate a full disk. */
  limitPages(pages: number): void {
    this.#db.pragma(`max_page_count = ${pages}`);
  }

  close(): void {
    this.#db.close();
  }

  /** Refuses a commit that could make the log longer than its limit. */
  #admit(commit: Commit): void {
    // Each row writes at most one page each of the index, the stored counts, the names of values and those of
    // collections, plus its share of the table; page splits are rare.
    const most = commit.rows.length * 5 * (pageBytes + 24) + 2 * commit.bytes + commitOverhead;
    assertLogRoom(this.#db, this.#path, most, this.#maxLogBytes);
  }

  #prepare(faults: Faults | undefined): (commit: Commit) => void {
    const db = this.#db;
    const insert = db.prepare(
      `INSERT INTO observation(${rowColumns}, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const countMinute = db.prepare(
      `INSERT INTO counter_minute(minute, source, applied, removed) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
    const countHour = db.prepare(
      `INSERT INTO counter_hour(hour, source, applied, removed) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
    const refuse = db.prepare(
      `INSERT INTO refusal(hour, source, reason, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`,
    );
    const setPosition = db.prepare(
      `INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
    );
    const forgetPosition = db.prepare('DELETE FROM position WHERE source = ? AND endpoint = ?');
    const setMeta = db.prepare(
      `INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)`,
    );
    const intern = this.#interner();
    const busy = new HotSubjectCounter(db);

    return db.transaction((commit: Commit): void => {
      const minutes = new Map<string, Counter>();
      const rows: StoredRow[] = [];
      for (const { observation, at, identity } of commit.rows) {
        const row = encodeRow(at, observation.label, observation.signature, intern);
        insert.run(...row, identity);
        rows.push(row);
        count(minutes, Math.floor(at / minute), row[2], observation.label.neg === true);
      }
      faults?.('append.rows');
      busy.count(rows);
      const hours = new Map<string, Counter>();
      for (const { bucket, source, applied, removed } of minutes.values()) {
        countMinute.run(bucket, source, applied, removed);
        const sum = counterOf(hours, Math.floor(bucket / 60), source);
        sum.applied += applied;
        sum.removed += removed;
      }
      for (const { bucket, source, applied, removed } of hours.values())
        countHour.run(bucket, source, applied, removed);
      for (const refusal of commit.refusals.values()) {
        refuse.run(Math.floor(commit.stamp / hour), intern('source', refusal.source), refusal.reason, refusal.count);
      }
      faults?.('append.counters');
      for (const { source, endpoint, value } of commit.positions) {
        if (value === null) forgetPosition.run(source, endpoint);
        else setPosition.run(source, endpoint, value, commit.at);
      }
      const last = commit.rows.at(-1)?.at;
      if (last !== undefined) setMeta.run(metaNames.last, last);
      setMeta.run(metaNames.through, commit.at);
      faults?.('append.positions');
    }).immediate;
  }

  #interner(): Intern {
    const statements = new Map<NameTable, { find: Statement; insert: Statement }>();
    for (const table of ['source', 'val', 'collection'] as const) {
      statements.set(table, {
        find: this.#db.prepare<[string], number>(`SELECT id FROM ${table} WHERE name = ?`).pluck(),
        insert: this.#db.prepare<[string], number>(`INSERT INTO ${table}(name) VALUES (?) RETURNING id`).pluck(),
      });
    }
    return (table, name) => {
      const known = this.#names.get(table, name);
      if (known !== undefined) return known;
      const { find, insert } = statements.get(table) ?? {};
      const id = find?.get(name) ?? insert?.get(name);
      if (id === undefined) throw new StoreError('damaged', `${this.#path}: ${table} gave no number`);
      this.#names.set(table, name, id);
      return id;
    };
  }
}

type Statement = Database.Statement<[string], number>;

interface Counter {
  readonly bucket: number;
  readonly source: number;
  applied: number;
  removed: number;
}

function counterOf(counters: Map<string, Counter>, bucket: number, source: number): Counter {
  const key = `${bucket} ${source}`;
  let counter = counters.get(key);
  if (!counter) {
    counter = { bucket, source, applied: 0, removed: 0 };
    counters.set(key, counter);
  }
  return counter;
}

function count(counters: Map<string, Counter>, bucket: number, source: number, removed: boolean): void {
  const counter = counterOf(counters, bucket, source);
  if (removed) counter.removed += 1;
  else counter.applied += 1;
}

/**
 * Initializes a new day's file with data of the previous day; leaves a file that already has a generation unchanged.
 */
function carryOver(db: Sqlite, carried: Carried): void {
  db.transaction(() => {
    const known = db
      .prepare<[string], string>('SELECT value FROM meta WHERE name = ?')
      .pluck()
      .get(metaNames.generation);
    if (known !== undefined) {
      if (known === carried.generation) return;
      throw new StoreError('damaged', `${db.name} belongs to another generation of the store`);
    }
    const setMeta = db.prepare('INSERT INTO meta(name, value) VALUES (?, ?)');
    setMeta.run(metaNames.generation, carried.generation);
    for (const name of [metaNames.last, metaNames.carriedLast])
      if (carried.last !== null) setMeta.run(name, carried.last);
    for (const name of [metaNames.through, metaNames.carriedThrough]) {
      if (carried.through !== null) setMeta.run(name, carried.through);
    }
    const setPosition = db.prepare('INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)');
    for (const { source, endpoint, value, acceptedAt } of carried.positions) {
      setPosition.run(source, endpoint, value, acceptedAt);
    }
  }).immediate();
}
