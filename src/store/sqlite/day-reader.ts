import type Database from 'better-sqlite3';
import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../errors.ts';
import type { AccountFilter, AccountQuery, Observation, Position, RefusalCount, RefusalReason } from '../port.ts';
import { hour, minute } from '../time.ts';
import { type BusySubject, busySql, bySubject, countedSql, filterSql, mostGroups } from './busy.ts';
import { openImmutable, openReadonly, type Sqlite, storeError } from './connection.ts';
import { metaNames, openDayMigrations, rowColumns, sealedDayMigrations } from './day-schema.ts';
import type { DayForm } from './files.ts';
import type { Group } from './group.ts';
import { assertKnown, schemaVersion } from './migrate.ts';
import { unpackGroups } from './packed-groups.ts';
import { packedSql } from './packed-rows.ts';
import {
  decodeRow,
  type NameOf,
  type NameTable,
  removalFlag,
  type StoredRow,
  type SubjectKey,
  sameKey,
} from './row.ts';
import { unpackStamps } from './stamps.ts';
import { mayHold, subjectsSql } from './subject-filter.ts';

/** Memory for pages of one day's file: the system's own cache does the rest. */
const cacheBytes = 2 * 1024 * 1024;

/** Takes one count: a labeler, a bucket of time, and what was applied and removed in it. */
export type Tally = (labeler: string, bucket: number, applied: number, removed: number) => void;

type Order = AccountQuery['order'];
type RawStatement = Database.Statement<unknown[], unknown>;

let opened = 0;

/** Queries of one day's file, of either form. */
export class DayReader {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Differs for every opened file: what was read of one is not valid of another. */
  readonly serial = ++opened;
  #keepsBusy: boolean;
  /** Whether they lie together, subject by subject: in a sealed file, unless it is of an older version. */
  readonly #packsBusy: boolean;
  readonly #db: Sqlite;
  readonly #names: Readonly<Record<NameTable, Map<number, string>>> = {
    source: new Map(),
    val: new Map(),
    collection: new Map(),
  };
  readonly #statements = new Map<string, RawStatement>();
  /** Whether the file keeps a filter of its subjects: a sealed one does, unless it is of an older version. */
  readonly keepsFilter: boolean;
  #filterBlocks: number | null = null;
  /** The last answer of the filter: one page asks several times of one account, and a sealed day never changes. */
  #asked: { readonly key: SubjectKey; readonly held: boolean } | null = null;

  constructor(path: string, day: number, form: DayForm) {
    this.day = day;
    this.form = form;
    this.path = path;
    this.#db = form === 'sealed' ? openImmutable(path, cacheBytes) : openReadonly(path, cacheBytes);
    try {
      assertKnown(this.#db, form === 'sealed' ? sealedDayMigrations : openDayMigrations);
      const version = schemaVersion(this.#db);
      this.#keepsBusy = version >= keepsBusyFrom[form];
      this.#packsBusy = form === 'sealed' && version >= 4;
      this.keepsFilter = form === 'sealed' && version >= 3;
      this.#readFirstNames();
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  close(): void {
    this.#db.close();
  }

  /** Whether the file keeps counts of subjects with many rows. A file of an older version does not, until its writer goes on with it. */
  get keepsBusy(): boolean {
    if (!this.#keepsBusy && this.form === 'open') this.#keepsBusy = schemaVersion(this.#db) >= keepsBusyFrom.open;
    return this.#keepsBusy;
  }

  /** One state of the file for several queries; synchronous, so that it is never held across ticks. */
  atOnce<T>(work: () => T): T {
    return this.#db.transaction(work)();
  }

  /** False where the file is known to hold no row of the account, which takes no look at its rows. */
  mayHold(key: SubjectKey): boolean {
    if (!this.keepsFilter) return true;
    if (this.#asked === null || !sameKey(this.#asked.key, key)) this.#asked = { key, held: this.#askFilter(key) };
    return this.#asked.held;
  }

  #askFilter(key: SubjectKey): boolean {
    const blocks = this.#filterBlocks ?? this.#column('SELECT count(*) FROM subject_filter', [])[0] ?? 0;
    this.#filterBlocks = blocks;
    const read = (block: number) =>
      this.#all<[Buffer]>('SELECT bits FROM subject_filter WHERE block = ?', [block])[0]?.[0];
    return mayHold(key, { path: this.path, count: blocks, read });
  }

  /** Every block of the filter, in order. */
  filterBlocks(): Buffer[] {
    return this.#all<[Buffer]>('SELECT bits FROM subject_filter ORDER BY block', []).map(([bits]) => bits);
  }

  /** Every subject once, in order. */
  *subjects(): Generator<SubjectKey> {
    for (const [subject] of this.#iterate<[SubjectKey]>(subjectsSql, [])) yield subject;
  }

  /** An account's rows with `start <= id < end` that agree with the filter, in the asked order. */
  account(key: SubjectKey, start: number, end: number, order: Order, limit: number, filter?: AccountFilter) {
    if (!this.mayHold(key)) return [];
    const direction = order === 'oldest' ? 'ASC' : 'DESC';
    const { sql, parameters } = filterSql(filter);
    const rows = this.#all<StoredRow>(
      `SELECT ${rowColumns} FROM observation WHERE subject = ? AND id >= ? AND id < ?${sql} ORDER BY id ${direction} LIMIT ?`,
      [key, start, end, ...parameters, limit],
    );
    return rows.map((row): Observation => decodeRow(row, this.nameOf));
  }

  /** An account's rows with `start <= id < end`, at most so many of them, as one number each (`packedSql`). */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[] {
    const sql = `SELECT ${packedSql} FROM observation WHERE subject = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?`;
    return this.#column(sql, [key, start, end, limit]);
  }

  /**
   * The kept groups of an account, of more than `mostGroups` only so many that this can be told; none where nothing is
   * kept of it. An open day's count what it holds now.
   */
  busyGroups(key: SubjectKey): readonly Group[] {
    if (!this.keepsBusy) return [];
    if (!this.#packsBusy) {
      const sql = 'SELECT source, val, target, applied, removed FROM busy WHERE subject = ? LIMIT ?';
      return this.#all<Group>(sql, [key, mostGroups + 1]);
    }
    const [found] = this.#all<[Buffer]>('SELECT packed FROM busy_groups WHERE subject = ?', [key]);
    return found ? unpackGroups(found[0], this.path) : [];
  }

  /** Some subjects of which groups are kept, and not very many: the last ones in order. */
  busySubjects(limit: number): SubjectKey[] {
    if (!this.keepsBusy) return [];
    const few = this.#packsBusy
      ? `busy_groups WHERE length(packed) <= ${fewGroups * packedGroupBytes}`
      : `busy GROUP BY subject HAVING count(*) <= ${fewGroups}`;
    const sql = `SELECT subject FROM ${few} ORDER BY subject DESC LIMIT ?`;
    return this.#all<[SubjectKey]>(sql, [limit]).map(([subject]) => subject);
  }

  /** Every subject of which groups are kept, in order. */
  *keptBusy(): Generator<BusySubject> {
    if (!this.#packsBusy) {
      const sql =
        'SELECT subject, source, val, target, applied, removed FROM busy ORDER BY subject, source, val, target';
      yield* bySubject(this.#iterate<[SubjectKey, ...Group]>(sql, []));
      return;
    }
    const packed = this.#iterate<[SubjectKey, Buffer]>('SELECT subject, packed FROM busy_groups ORDER BY subject', []);
    for (const [subject, groups] of packed) yield { subject, groups: unpackGroups(groups, this.path) };
  }

  /** The subjects of which a sealed file must keep groups, from its rows, in the same order. */
  *countedBusy(): Generator<BusySubject> {
    for (const counted of bySubject(this.#iterate<[SubjectKey, ...Group]>(busySql, []))) {
      if (!this.#packsBusy || counted.groups.length <= mostGroups) yield counted;
    }
  }

  /** The groups of one subject from its rows, in the order of the kept ones. */
  countedGroups(key: SubjectKey): Group[] {
    return this.#all<Group>(countedSql, [key]);
  }

  /** The first rows of an account with `start <= id < end`, at most so many: their number, and the stamp of the last. */
  passing(key: SubjectKey, start: number, end: number, most: number): { rows: number; last: number } | null {
    if (!this.mayHold(key)) return null;
    const ids = 'SELECT id FROM observation WHERE subject = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?';
    const [found] = this.#all<[number, number | null]>(`SELECT count(*), max(id) FROM (${ids})`, [
      key,
      start,
      end,
      most,
    ]);
    const [rows = 0, last = null] = found ?? [];
    return last === null ? null : { rows, last };
  }

  /** Counters of whole hours or minutes, `from` inclusive, `to` exclusive. */
  counters(bucket: 'hour' | 'minute', from: number, to: number, tally: Tally): void {
    const rows = this.#all<[string, number, number, number]>(
      `SELECT source.name, c.${bucket}, c.applied, c.removed FROM counter_${bucket} c JOIN source ON source.id = c.source
       WHERE c.${bucket} >= ? AND c.${bucket} < ?`,
      [from, to],
    );
    for (const [labeler, at, applied, removed] of rows) tally(labeler, at, applied, removed);
  }

  /** Counts of rows with `start <= id < end`, all within one minute. */
  edge(start: number, end: number, tally: Tally): void {
    const of = Math.floor(start / minute);
    if (this.form === 'open') {
      const rows = this.#all<[string, number, number]>(
        `SELECT source.name, o.n, o.removed FROM (SELECT source, count(*) AS n, sum(flags & ${removalFlag} > 0) AS removed
         FROM observation WHERE id >= ? AND id < ? GROUP BY source) o JOIN source ON source.id = o.source`,
        [start, end],
      );
      for (const [labeler, n, removed] of rows) tally(labeler, of, n - removed, removed);
      return;
    }
    const rows = this.#all<[string, Buffer | null]>(
      'SELECT source.name, stamps FROM counter_minute JOIN source ON source.id = source WHERE minute = ?',
      [of],
    );
    for (const [labeler, stamps] of rows) {
      if (!stamps) throw new StoreError('damaged', `${this.path}: a minute without its stamps`);
      const counts = [0, 0];
      for (const { offset, removed } of unpackStamps(stamps)) {
        const at = of * minute + offset;
        if (at >= start && at < end) counts[removed ? 1 : 0] = (counts[removed ? 1 : 0] ?? 0) + 1;
      }
      const [applied = 0, removed = 0] = counts;
      if (applied + removed > 0) tally(labeler, of, applied, removed);
    }
  }

  /** Refusals of the hours that `start <= t < end` touches. */
  refusals(start: number, end: number): RefusalCount[] {
    const rows = this.#all<[string, RefusalReason, number]>(
      `SELECT source.name, reason, sum(n) FROM refusal JOIN source ON source.id = source
       WHERE hour >= ? AND hour < ? GROUP BY source, reason`,
      [Math.floor(start / hour), Math.ceil(end / hour)],
    );
    return rows.map(([source, reason, count]) => ({ source, reason, count }));
  }

  /** Every position as of this file's last commit. */
  positions(): Position[] {
    const rows = this.#all<[string, string, string, Micros]>(
      'SELECT source, endpoint, value, accepted_at FROM position ORDER BY source, endpoint',
      [],
    );
    return rows.map(([source, endpoint, value, acceptedAt]) => ({ source, endpoint, value, acceptedAt }));
  }

  /** Last stamp and last accepted batch, this day's or carried over from before. */
  ends(): { last: Micros | null; through: Micros | null } {
    return { last: this.meta(metaNames.last), through: this.meta(metaNames.through) };
  }

  /** A number that the file keeps under a name; null when it has none. */
  meta(name: string): Micros | null {
    const [row] = this.#all<[Micros]>('SELECT value FROM meta WHERE name = ?', [name]);
    return row?.[0] ?? null;
  }

  /** The store's generation that the file belongs to. */
  generation(): string | null {
    const [row] = this.#all<[string]>('SELECT value FROM meta WHERE name = ?', [metaNames.generation]);
    return row?.[0] ?? null;
  }

  /** Identities of rows accepted at or after an instant, in order; open days only. */
  *identities(since: number): Generator<readonly [id: number, identity: Buffer]> {
    yield* this.#iterate<[number, Buffer]>('SELECT id, identity FROM observation WHERE id >= ? ORDER BY id', [since]);
  }

  /** Every row, in the file's own order; an open day's with its identity. */
  *rows(): Generator<readonly [row: StoredRow, identity: Buffer | null]> {
    const identity = this.form === 'open' ? 'identity' : 'NULL';
    const order = this.form === 'open' ? 'id' : 'subject, id';
    const sql = `SELECT ${rowColumns}, ${identity} FROM observation ORDER BY ${order}`;
    for (const row of this.#iterate<[...StoredRow, Buffer | null]>(sql, [])) {
      yield [row.slice(0, -1) as unknown as StoredRow, row.at(-1) as Buffer | null];
    }
  }

  /** Every counter of a kind with its number of the source. */
  allCounters(bucket: 'hour' | 'minute'): [bucket: number, source: number, applied: number, removed: number][] {
    return this.#all(
      `SELECT ${bucket}, source, applied, removed FROM counter_${bucket} ORDER BY ${bucket}, source`,
      [],
    );
  }

  /** SQLite's own findings on the file; empty when it is sound. */
  fileProblems(): string[] {
    const found = this.#db.pragma('quick_check(10)') as { quick_check: string }[];
    return found.map((row) => row.quick_check).filter((text) => text !== 'ok');
  }

  /** A page of an account with many rows needs hundreds of each day's names, and one look at a time is slow. */
  #readFirstNames(): void {
    for (const table of ['source', 'val', 'collection'] as const) {
      const rows = this.#all<[number, string]>(`SELECT id, name FROM ${table} ORDER BY id LIMIT ${namesAtOnce}`, []);
      for (const [id, name] of rows) this.#names[table].set(id, name);
    }
  }

  /** The text of a number in this file. */
  readonly nameOf: NameOf = (table: NameTable, id: number): string => {
    const names = this.#names[table];
    const known = names.get(id);
    if (known !== undefined) return known;
    const [row] = this.#all<[string]>(`SELECT name FROM ${table} WHERE id = ?`, [id]);
    if (!row) throw new StoreError('damaged', `${this.path}: ${table} ${id} has no name`);
    if (names.size >= maxNames) names.clear();
    names.set(id, row[0]);
    return row[0];
  };

  /** The one column of a query, all of it numbers. */
  #column(sql: string, parameters: readonly unknown[]): number[] {
    try {
      return this.#statement(sql, 'pluck').all(...parameters) as number[];
    } catch (error) {
      throw storeError(error, this.path);
    }
  }

  #all<Row>(sql: string, parameters: readonly unknown[]): Row[] {
    try {
      return this.#statement(sql, 'raw').all(...parameters) as Row[];
    } catch (error) {
      throw storeError(error, this.path);
    }
  }

  *#iterate<Row>(sql: string, parameters: readonly number[]): Generator<Row> {
    try {
      yield* this.#db
        .prepare<number[], Row>(sql)
        .raw()
        .iterate(...parameters);
    } catch (error) {
      throw storeError(error, this.path);
    }
  }

  #statement(sql: string, form: 'raw' | 'pluck'): RawStatement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare<unknown[], unknown>(sql)[form]();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** The version of each form from which on counts of subjects with many rows are kept. */
const keepsBusyFrom: Readonly<Record<DayForm, number>> = { sealed: 2, open: 3 };
/** Groups of a subject that is no trouble to read. */
const fewGroups = 1_000;
/** Bytes that a packed group takes, about. */
const packedGroupBytes = 5;
/** Texts of a kind that are read when a file is opened: an ordinary day has fewer. */
const namesAtOnce = 1_000;
/** Texts of a kind remembered of one file. */
const maxNames = 10_000;
