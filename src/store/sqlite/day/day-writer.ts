import type Database from 'better-sqlite3';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { RefusedRows, RefusedRowsChange } from '../../label.ts';
import type { Batch, NewObservation, Position, RefusalReason } from '../../port.ts';
import { hour, minute } from '../../time.ts';
import { type Faults, migrate, openWritable, pageBytes, type Sqlite, storeError } from '../base/connection.ts';
import { encodeRow, type Intern, type NameTable, type StoredRow } from '../base/row.ts';
import { OpenDayCounter } from '../hot/hot-counts.ts';
import { labelerCounterWriter } from '../labeler/stored-counters.ts';
import { assertLogRoom, metaNames, openDayMigrations, refusedRowsWriter, rowColumns } from '../schema/day-schema.ts';

/**
 * Size of the page cache for the current day, in bytes. A commit that changes more pages uses more memory, because
 * pages are not spilled to disk.
 */
const cacheBytes = 32 * 1024 * 1024;
/**
 * Maximum number of bytes that one commit writes besides its rows: tables, counters, first counts of hot subjects, and
 * free-list pages.
 */
const commitOverhead = 3 * 1024 * 1024;

/** Options for the day writer. */
export interface DayWriterOptions {
  readonly maxLogBytes: number;
  readonly durable: boolean;
  readonly faults: Faults | undefined;
  /** Throws `fenced` if another process has become the writer. Called in the transaction of each commit. */
  readonly assertWriter?: () => void;
}

/** Writes the current day. Only this connection may change the day's file. */
export class DayWriter {
  readonly day: number;
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #maxLogBytes: number;
  readonly #names = new RememberedNames();
  readonly #write: (commit: Commit) => void;

  constructor(path: string, day: number, carried: Carried, appliedAt: string, options: DayWriterOptions) {
    const { maxLogBytes, durable, faults, assertWriter } = options;
    assertWriter?.();
    this.day = day;
    this.#path = path;
    this.#maxLogBytes = maxLogBytes;
    this.#db = openWritable(path, cacheBytes, durable);
    try {
      migrate(this.#db, openDayMigrations, appliedAt, faults);
      faults?.('rollover.made');
      carryOver(this.#db, carried);
      this.#write = this.#prepare(faults, assertWriter);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /**
   * Commits rows, counters, refusals, positions and refused rows atomically. With the option `durable`, the commit is
   * durable when the method returns.
   */
  commit(commit: Commit): void {
    this.#admit(commit);
    try {
      this.#write(commit);
    } catch (error) {
      // Discard the cache: the rolled-back transaction may have assigned ids that do not exist in the file.
      this.#names.clear();
      throw storeError(error, this.#path);
    }
  }

  /** Limits the number of pages of the file, so that a test can simulate a full disk. */
  limitPages(pages: number): void {
    this.#db.pragma(`max_page_count = ${pages}`);
  }

  close(): void {
    this.#db.close();
  }

  /** Throws `wal_full` if the commit could make the log longer than its limit. */
  #admit(commit: Commit): void {
    // Assume that a row changes one page each of the table, the index, the stored counts, the value names and the
    // collection names; page splits are rare. The counters of one labeler take one page.
    const labelers = new Set(commit.rows.map(({ observation }) => observation.label.src)).size;
    const pages = commit.rows.length * 5 + labelers;
    const most = pages * (pageBytes + 24) + 2 * commit.bytes + commitOverhead;
    assertLogRoom(this.#db, this.#path, most, this.#maxLogBytes);
  }

  #prepare(faults: Faults | undefined, assertWriter: DayWriterOptions['assertWriter']): (commit: Commit) => void {
    const db = this.#db;
    const intern = internerOf(db, this.#names);
    const writeRows = rowWriter(db, intern);
    const countRows = counterWriter(db);
    const countLabelers = labelerCounterWriter(db);
    const countRefusals = refusalWriter(db, intern);
    const writePositions = positionWriter(db);
    const writeRefusedRows = refusedRowsWriter(db);
    const writeEnd = endWriter(db);
    const hotSubjects = new OpenDayCounter(db);
    return db.transaction((commit: Commit): void => {
      const { rows, minutes } = writeRows(commit.rows);
      faults?.('append.rows');
      hotSubjects.count(rows);
      countRows(minutes);
      countLabelers(rows, (row) => commit.rows[row]?.observation.label.val ?? '');
      countRefusals(commit.refusals, commit.stamp);
      faults?.('append.counters');
      writePositions(commit.positions, commit.at);
      writeRefusedRows(commit.refusedRows);
      writeEnd(commit);
      assertWriter?.();
      faults?.('append.positions');
    }).immediate;
  }
}

/**
 * Copies data of the previous day into a new day's file. Does not change a file that already has a generation; throws
 * `damaged` if that generation belongs to another store.
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
    refusedRowsWriter(db)(carried.refusedRows);
  }).immediate();
}

/** Functions that write one commit's changes to each table, with prepared statements, in the caller's transaction. */

/** Number of rows of a source within a minute. */
interface MinuteCounter {
  readonly minute: number;
  readonly source: number;
  applied: number;
  removed: number;
}

/** Returns a function that stores observations, and returns the stored rows and their counts by minute and source. */
export function rowWriter(db: Sqlite, intern: Intern) {
  const insert = db.prepare(
    `INSERT INTO observation(${rowColumns}, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (added: Commit['rows']) => {
    const minutes = new Map<string, MinuteCounter>();
    const rows: StoredRow[] = [];
    for (const { observation, at, identity } of added) {
      const row = encodeRow(at, observation, intern);
      insert.run(...row, identity);
      rows.push(row);
      count(minutes, Math.floor(at / minute), row[2], observation.label.neg === true);
    }
    return { rows, minutes: [...minutes.values()] };
  };
}

function count(minutes: Map<string, MinuteCounter>, at: number, source: number, isRemoval: boolean): void {
  const key = `${at} ${source}`;
  const counter = minutes.get(key) ?? { minute: at, source, applied: 0, removed: 0 };
  minutes.set(key, counter);
  if (isRemoval) counter.removed += 1;
  else counter.applied += 1;
}

/** Returns a function that adds rows to the counters of minutes and hours. */
function counterWriter(db: Sqlite): (minutes: readonly MinuteCounter[]) => void {
  const add = (bucket: 'minute' | 'hour') =>
    db.prepare(
      `INSERT INTO counter_${bucket}(${bucket}, source, applied, removed) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
  const [addMinute, addHour] = [add('minute'), add('hour')];
  return (minutes) => {
    for (const { minute: at, source, applied, removed } of minutes) {
      addMinute.run(at, source, applied, removed);
      addHour.run(Math.floor(at / 60), source, applied, removed);
    }
  };
}

/** Returns a function that adds refused labels to the counts of the hour that contains the given stamp. */
function refusalWriter(db: Sqlite, intern: Intern): (refusals: Commit['refusals'], stamp: Micros) => void {
  const add = db.prepare(
    `INSERT INTO refusal(hour, source, reason, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`,
  );
  return (refusals, stamp) => {
    for (const { source, reason, count: n } of refusals.values()) {
      add.run(Math.floor(stamp / hour), intern('source', source), reason, n);
    }
  };
}

/** Returns a function that stores changes to positions with the given acceptance time. */
function positionWriter(db: Sqlite): (changes: Commit['positions'], at: Micros) => void {
  const put = db.prepare(
    `INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
  );
  const remove = db.prepare('DELETE FROM position WHERE source = ? AND endpoint = ?');
  return (changes, at) => {
    for (const { source, endpoint, value } of changes) {
      if (value === null) remove.run(source, endpoint);
      else put.run(source, endpoint, value, at);
    }
  };
}

/** Returns a function that records the time of a commit, and the last stamp if the commit has rows. */
function endWriter(db: Sqlite): (commit: Commit) => void {
  const setMeta = db.prepare(
    `INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)`,
  );
  return ({ rows, at }) => {
    const last = rows.at(-1)?.at;
    if (last !== undefined) setMeta.run(metaNames.last, last);
    setMeta.run(metaNames.through, at);
  };
}

/** Content of one commit to a day's file. */
export interface Commit {
  readonly rows: readonly { readonly observation: NewObservation; readonly at: number; readonly identity: Buffer }[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly refusedRows: readonly RefusedRowsChange[];
  readonly at: Micros;
  /** First stamp of the commit. Set even without rows, because refusals are counted in the hour of this stamp. */
  readonly stamp: Micros;
  readonly bytes: number;
}

/** Data that a new day's file takes over from the previous day. */
export interface Carried {
  readonly generation: string;
  readonly positions: readonly Position[];
  readonly refusedRows: readonly RefusedRows[];
  readonly last: Micros | null;
  readonly through: Micros | null;
}

type Statement = Database.Statement<[string], number>;

/**
 * Returns a function that returns the numeric id of a text in a day's file, and adds the text if it is new, in the
 * caller's transaction. The caller must clear the cache `names` if the transaction fails.
 */
export function internerOf(db: Sqlite, names: RememberedNames): Intern {
  const statements = new Map<NameTable, { find: Statement; insert: Statement }>();
  for (const table of ['source', 'val', 'collection'] as const) {
    statements.set(table, {
      find: db.prepare<[string], number>(`SELECT id FROM ${table} WHERE name = ?`).pluck(),
      insert: db.prepare<[string], number>(`INSERT INTO ${table}(name) VALUES (?) RETURNING id`).pluck(),
    });
  }
  return (table, name) => {
    const known = names.get(table, name);
    if (known !== undefined) return known;
    const { find, insert } = statements.get(table) ?? {};
    const id = find?.get(name) ?? insert?.get(name);
    if (id === undefined) throw new StoreError('damaged', `${db.name}: the table ${table} assigned no id`);
    names.set(table, name, id);
    return id;
  };
}

/** Maximum number of cached texts. Above this number, the cache is emptied. */
const maxRemembered = 100_000;
/** Maximum memory of the cache, in bytes. Above this size, the cache is emptied. */
const maxRememberedBytes = 16 * 1024 * 1024;
/** Estimated memory per entry without its text, in bytes. */
const entryBytes = 64;

/** Cache of the numeric ids of texts in a day's file, bounded in entries and memory. */
export class RememberedNames {
  readonly #names = new Map<string, number>();
  #bytes = 0;

  get(table: NameTable, name: string): number | undefined {
    return this.#names.get(keyOf(table, name));
  }

  set(table: NameTable, name: string, id: number): void {
    const key = keyOf(table, name);
    // Assume the maximum of two bytes per character. A text with only Latin-1 characters takes one byte per
    // character.
    const bytes = 2 * key.length + entryBytes;
    if (this.#names.size >= maxRemembered || this.#bytes + bytes > maxRememberedBytes) this.clear();
    this.#names.set(key, id);
    this.#bytes += bytes;
  }

  clear(): void {
    this.#names.clear();
    this.#bytes = 0;
  }

  /** Upper bound of the memory in use, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }
}

function keyOf(table: NameTable, name: string): string {
  return `${table} ${name}`;
}
