import { StoreError } from '../../errors.ts';
import { openWritable, pageBytes, type Sqlite } from '../base/connection.ts';
import { type Faults, migrate } from '../base/migrate.ts';
import { storeError } from '../base/store-error.ts';
import { OpenDayCounter } from '../hot/hot-counts.ts';
import { labelerCounterWriter } from '../labeler/counter-changes.ts';
import { assertLogRoom } from '../schema/day-file.ts';
import { metaNames, openDayMigrations } from '../schema/day-schema.ts';
import { refusedRowsWriter } from '../schema/refused-schema.ts';
import {
  type Carried,
  type Commit,
  counterWriter,
  endWriter,
  positionWriter,
  refusalWriter,
  rowWriter,
} from './commit-tables.ts';
import { internerOf, RememberedNames } from './interner.ts';

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
