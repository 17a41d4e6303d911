import { crc32 } from 'node:zlib';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { RefusedRows, RefusedRowsChange } from '../../label.ts';
import { type Batch, maxBatchRows, type Position, type RefusalReason } from '../../port.ts';
import { hour, minute } from '../../time.ts';
import { type Faults, migrate, openWritable, pageBytes, type Sqlite, storeError } from '../base/connection.ts';
import {
  type AcceptedRow,
  type Intern,
  RowWriter,
  removalFlag,
  type StoredRow,
  type SubjectKey,
  subjectName,
} from '../base/row.ts';
import { maxGroups } from '../hot/hot-counts.ts';
import { labelerCounterWriter } from '../labeler/stored-counters.ts';
import {
  assertLogRoom,
  countsSql,
  hotRows,
  metaNames,
  openDayMigrations,
  refusedRowsWriter,
  targetSql,
} from '../schema/day-schema.ts';

/**
 * Size of the page cache for the current day, in bytes. A commit that changes more pages uses more memory, because
 * pages are not spilled to disk. A cache of twice this size appends no faster: the system caches the file too.
 */
const cacheBytes = 16 * 1024 * 1024;
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
  readonly #rows: RowWriter;
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
      this.#rows = new RowWriter(this.#db);
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
      this.#rows.forget();
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
    const { intern } = this.#rows;
    const countRows = counterWriter(db);
    const countLabelers = labelerCounterWriter(db);
    const countRefusals = refusalWriter(db, intern);
    const writePositions = positionWriter(db);
    const writeRefusedRows = refusedRowsWriter(db);
    const writeEnd = endWriter(db);
    const hotSubjects = new OpenDayCounter(db);
    return db.transaction((commit: Commit): void => {
      const rows = this.#rows.write(commit.rows);
      faults?.('append.rows');
      hotSubjects.count(rows);
      countRows(rows);
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

/** Number of rows of a source within a minute. */
interface MinuteCounter {
  readonly at: number;
  readonly source: number;
  applied: number;
  removed: number;
}

/** Returns a function that adds rows to the counters of minutes and hours. */
function counterWriter(db: Sqlite): (rows: readonly StoredRow[]) => void {
  const add = (bucket: 'minute' | 'hour') =>
    db.prepare(
      `INSERT INTO counter_${bucket}(${bucket}, source, applied, removed) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
  const [addMinute, addHour] = [add('minute'), add('hour')];
  return (rows) => {
    const minutes = new Map<string, MinuteCounter>();
    for (const [id, , source, , , , flags] of rows) {
      const at = Math.floor(id / minute);
      const counter = minutes.get(`${at} ${source}`) ?? { at, source, applied: 0, removed: 0 };
      minutes.set(`${at} ${source}`, counter);
      if ((flags & removalFlag) === 0) counter.applied += 1;
      else counter.removed += 1;
    }
    for (const { at, source, applied, removed } of minutes.values()) {
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

/** Returns a function that stores changes to positions with their acceptance times, or else with the given one. */
function positionWriter(db: Sqlite): (changes: Commit['positions'], at: Micros) => void {
  const put = db.prepare(
    `INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
  );
  const remove = db.prepare('DELETE FROM position WHERE source = ? AND endpoint = ?');
  return (changes, at) => {
    for (const { source, endpoint, value, acceptedAt = at } of changes) {
      if (value === null) remove.run(source, endpoint);
      else put.run(source, endpoint, value, acceptedAt);
    }
  };
}

/** Returns a function that records the time of the pages of a commit, and the last stamp if the commit has rows. */
function endWriter(db: Sqlite): (commit: Commit) => void {
  const setMeta = db.prepare(
    `INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)`,
  );
  return ({ rows, through }) => {
    const last = rows.at(-1)?.at;
    if (last !== undefined) setMeta.run(metaNames.last, last);
    if (through !== null) setMeta.run(metaNames.through, through);
  };
}

/** Content of one commit to a day's file. */
export interface Commit {
  readonly rows: readonly AcceptedRow[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly refusedRows: readonly RefusedRowsChange[];
  readonly at: Micros;
  /** Time of the pages; null if the commit has none. */
  readonly through: Micros | null;
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

/**
 * Number of one-byte counters. Subjects with the same hash share a counter, so a counter below its maximum is at least
 * the number of rows of each of its subjects since the writer started.
 */
const counters = 2 ** 20;
/** Maximum value of a counter. */
const highest = 255;
/**
 * Maximum length in bytes of a subject key with stored counts; the key of a did:plc has 15 bytes. The limit bounds the
 * writes of a commit.
 */
const maxKeyLength = 128;
/**
 * Maximum number of rows that one commit reads to create counts. A single subject may exceed this number if its rows
 * were written before the file stored counts or before the writer was restarted.
 */
const beginRows = 2 * maxBatchRows;
/** Maximum number of cached subjects that have too many groups to read. */
const maxRefused = 10_000;

/**
 * Maintains the counts of subjects with many rows while rows are added to a day. If counts are stored for a subject,
 * they include all its rows. Counts may be missing for a subject with many rows, because the in-memory counting starts
 * when the writer starts.
 */
class OpenDayCounter {
  readonly #noticed = Buffer.alloc(counters);
  readonly #kept: (subject: SubjectKey) => boolean;
  readonly #refused = new Set<string>();
  /** Returns the number of a subject's rows, at most `most`. */
  readonly #rows: (subject: SubjectKey, most: number) => number;
  /** Returns the number of a subject's groups, at most `most`. */
  readonly #groups: (subject: SubjectKey, most: number) => number;
  /** Adds a subject's rows from the stamp `from` onwards to its stored counts. */
  readonly #add: (subject: SubjectKey, from: number) => void;

  constructor(db: Sqlite) {
    const kept = db.prepare<[SubjectKey], 1>('SELECT 1 FROM busy WHERE subject = ? LIMIT 1').pluck();
    const rows = db
      .prepare<[SubjectKey, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM observation WHERE subject = ? LIMIT ?)',
      )
      .pluck();
    const groups = db
      .prepare<[SubjectKey, number], number>(
        `SELECT count(*) FROM (SELECT 1 FROM observation WHERE subject = ? GROUP BY source, val, ${targetSql} LIMIT ?)`,
      )
      .pluck();
    const add = db.prepare<[SubjectKey, number]>(
      `INSERT INTO busy SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM observation
       WHERE subject = ? AND id >= ? GROUP BY source, val, target
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
    this.#kept = (subject) => kept.get(subject) !== undefined;
    this.#rows = (subject, most) => rows.get(subject, most) ?? 0;
    this.#groups = (subject, most) => groups.get(subject, most) ?? 0;
    this.#add = (subject, from) => add.run(subject, from);
    // Every further row of a subject with stored counts must be counted, so its counter starts at the maximum.
    for (const subject of db.prepare<[], SubjectKey>('SELECT DISTINCT subject FROM busy').pluck().iterate()) {
      this.#noticed[counterOf(subject)] = highest;
    }
  }

  /** Counts rows that the same transaction has inserted. */
  count(rows: readonly StoredRow[]): void {
    const [from] = rows[0] ?? [];
    if (from === undefined) return;
    const many = new Map<string, SubjectKey>();
    for (const [, subject] of rows) {
      if (this.#notice(subject) >= hotRows) many.set(subjectName(subject), subject);
    }
    let left = beginRows;
    for (const [name, subject] of many) {
      if (subject.length > maxKeyLength || this.#refused.has(name)) continue;
      if (this.#kept(subject)) this.#add(subject, from);
      else left -= this.#begin(name, subject, left);
    }
  }

  /**
   * Creates the counts of a subject with at least `hotRows` rows. If the subject has more rows than this commit may
   * still read, a later commit creates the counts. A subject with more rows than `beginRows` is counted in one
   * commit, unless its rows form too many groups. Returns the number of rows charged to the limit.
   */
  #begin(name: string, subject: SubjectKey, left: number): number {
    if (left <= 0) return 0;
    const rows = this.#rows(subject, left + 1);
    if (rows < hotRows) return 0;
    if (rows > left) {
      if (left < beginRows) return 0;
      if (this.#groups(subject, maxGroups + 1) > maxGroups) {
        if (this.#refused.size >= maxRefused) this.#refused.clear();
        this.#refused.add(name);
        return left;
      }
    }
    this.#add(subject, 0);
    return rows;
  }

  /**
   * Counts one row of a subject. Returns the subject's counter: an upper bound of the rows that were added since the
   * writer started, or 255 for more rows. After a failed commit the bound may be too high.
   */
  #notice(subject: SubjectKey): number {
    const counter = counterOf(subject);
    const noticed = Math.min(highest, (this.#noticed[counter] ?? 0) + 1);
    this.#noticed[counter] = noticed;
    return noticed;
  }
}

function counterOf(subject: SubjectKey): number {
  return crc32(subject) % counters;
}
