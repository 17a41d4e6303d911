import { statSync } from 'node:fs';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { identityBytes, type RefusedRows } from '../../label.ts';
import type { Observation, Position, RefusalCount, RefusalReason } from '../../port.ts';
import { hour, minute } from '../../time.ts';
import {
  assertKnown,
  openImmutable,
  openReadonly,
  type Sqlite,
  schemaVersion,
  storeError,
} from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import {
  decodeOpenRow,
  decodeRow,
  type NameOf,
  type NameTable,
  removalFlag,
  rowColumns,
  type StoredRow,
  type SubjectKey,
  sameKey,
  subjectDid,
  unpackStamps,
} from '../base/row.ts';
import { checkDay } from '../blocks/blocks.ts';
import { CheckedGroups } from '../blocks/group-sums.ts';
import { type CountedDay, StoredCounts } from '../hot/hot-counts.ts';
import { StoredLabelerCounters } from '../labeler/stored-counters.ts';
import {
  checkedFrom,
  DayFile,
  isEarlierRefusedRows,
  metaNames,
  openDayMigrations,
  refusedRowsIn,
  sealedDayMigrations,
} from '../schema/day-schema.ts';
import { AccountRows, mayHold, Names, type RowChoice, type RowRange, subjectsSql } from './account-rows.ts';

/** Size of the page cache of one day's file, in bytes. The operating system caches further pages. */
const cacheBytes = 2 * 1024 * 1024;

let opened = 0;

/** Reads one day's file, open or sealed. */
export class DayReader implements CountedDay {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Number that is different for each opened file. Results cached for one file are not valid for another. */
  readonly serial = ++opened;
  readonly hotCounts: StoredCounts;
  readonly labelerCounters: StoredLabelerCounters;
  readonly #inode: number | null;
  readonly #file: DayFile;
  readonly #names: Names;
  readonly #rows: AccountRows;
  /** Checksum groups, or null if the file has no checksums. */
  readonly #groups: CheckedGroups | null;
  /** True if the file has a subject filter. Every sealed file has a filter, unless an earlier version wrote it. */
  readonly keepsFilter: boolean;
  #filterBlocks: number | null = null;
  /**
   * Last result of the subject filter. It is cached because a page queries the same account several times, and a sealed
   * day never changes.
   */
  #asked: { readonly key: SubjectKey; readonly held: boolean } | null = null;

  constructor(path: string, day: number, form: DayForm) {
    this.day = day;
    this.form = form;
    this.path = path;
    this.#inode = inodeOf(path);
    const db = form === 'sealed' ? openSealed(path, cacheBytes) : openReadonly(path, cacheBytes);
    this.#file = new DayFile(db, path);
    try {
      assertKnown(db, form === 'sealed' ? sealedDayMigrations : openDayMigrations);
      const version = schemaVersion(db);
      if (form === 'sealed') assertVersion(this.#file, version);
      this.hotCounts = new StoredCounts(this.#file, form, version);
      this.keepsFilter = form === 'sealed' && version >= 3;
      const isChecked = form === 'sealed' && version >= checkedFrom;
      this.#groups = isChecked ? new CheckedGroups(this.#file, day) : null;
      this.labelerCounters = new StoredLabelerCounters(this.#file, this, this.#groups, (name) => this.meta(name));
      this.#names = new Names(this.#file, day, isChecked);
      const kind = form === 'open' ? 'open' : isChecked ? 'checked' : 'unchecked';
      this.#rows = new AccountRows(this.#file, this.#names, day, kind);
    } catch (error) {
      db.close();
      throw storeError(error, path);
    }
  }

  /** True if reads are verified with checksums. Every sealed file has checksums, unless an earlier version wrote it. */
  get isChecked(): boolean {
    return this.#groups !== null;
  }

  /** Yields the parts of the file that do not match their checksums; yields nothing for a file without checksums. */
  *checksumProblems() {
    if (this.isChecked) yield* checkDay(this.#file, this.day);
  }

  /** True if this file is a sealed day without checksums that was replaced or removed since this reader opened it. */
  get isReplaced(): boolean {
    return this.form === 'sealed' && !this.isChecked && inodeOf(this.path) !== this.#inode;
  }

  close(): void {
    this.#file.db.close();
  }

  /**
   * Runs several queries on one snapshot of the file. The callback is synchronous, so that no transaction stays open
   * across turns of the event loop.
   */
  atOnce<T>(work: () => T): T {
    return this.#file.db.transaction(work)();
  }

  /** Returns false if the file certainly contains no row of the account. Does not read rows. */
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
    return mayHold(key, { path: this.path, placed: this.isChecked, count: blocks, read });
  }

  /** Returns all blocks of the subject filter, in order. */
  filterBlocks(): Buffer[] {
    return this.#all<[Buffer]>('SELECT bits FROM subject_filter ORDER BY block', []).map(([bits]) => bits);
  }

  /** Yields every distinct subject, in order. */
  *subjects(): Generator<SubjectKey> {
    for (const [subject] of this.#iterate<[SubjectKey]>(subjectsSql, [])) yield subject;
  }

  /** Returns an account's rows with `start <= id < end` that match the filter, in the requested order. */
  account(range: RowRange, choice: RowChoice): Observation[] {
    if (!this.mayHold(range.key)) return [];
    const rows = this.#rows.rows(range, choice);
    const did = subjectDid(range.key);
    const isOpen = this.form === 'open';
    try {
      return rows.map((row) =>
        isOpen ? decodeOpenRow(row, this.nameOf, this.path, did) : decodeRow(row, this.nameOf, did),
      );
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // Report damage, because this program never writes a time or text that cannot be decoded.
      throw new StoreError('damaged', `${this.path}: a row cannot be decoded`, { cause: error });
    }
  }

  /**
   * Returns an account's rows with `start <= id < end`, at most `limit` rows, each as one number (see `packedRowSql`).
   */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[] {
    return this.#rows.packed({ key, start, end, limit });
  }

  /**
   * Counts an account's rows with `start <= id < end`, oldest first and up to `most` rows. Returns their number and
   * the stamp of the last counted row, or null if no such row exists.
   */
  passing(key: SubjectKey, start: number, end: number, most: number): { rows: number; last: number } | null {
    if (!this.mayHold(key)) return null;
    const stamps = this.#rows.stamps({ key, start, end, limit: most });
    const last = stamps.at(-1);
    return last === undefined ? null : { rows: stamps.length, last };
  }

  /** Calls `add` with the counters of whole hours or minutes with `from <= bucket < to`. */
  counters(bucket: 'hour' | 'minute', from: number, to: number, add: AddCount): void {
    if (this.#groups) {
      const counted = this.#groups.range<readonly [number, number, number]>(`counter_${bucket}`, from, to);
      for (const [at, [source, applied, removed]] of counted) add(this.nameOf('source', source), at, applied, removed);
      return;
    }
    const rows = this.#all<[string, number, number, number]>(
      `SELECT source.name, c.${bucket}, c.applied, c.removed FROM counter_${bucket} c JOIN source ON source.id = c.source
       WHERE c.${bucket} >= ? AND c.${bucket} < ?`,
      [from, to],
    );
    for (const [labeler, at, applied, removed] of rows) add(labeler, at, applied, removed);
  }

  /** Calls `add` with the counts of the rows with `start <= id < end`, which must all be in one minute. */
  edge(start: number, end: number, add: AddCount): void {
    const of = Math.floor(start / minute);
    if (this.form === 'open') {
      const rows = this.#all<[string, number, number]>(
        `SELECT source.name, o.n, o.removed FROM (SELECT source, count(*) AS n, sum(flags & ${removalFlag} > 0) AS removed
         FROM observation WHERE id >= ? AND id < ? GROUP BY source) o JOIN source ON source.id = o.source`,
        [start, end],
      );
      for (const [labeler, n, removed] of rows) add(labeler, of, n - removed, removed);
      return;
    }
    for (const [labeler, stamps] of this.#stampsOf(of)) {
      if (!stamps) throw new StoreError('damaged', `${this.path}: a minute has no stamps`);
      const counts = [0, 0];
      for (const { offset, removed } of unpackStamps(stamps)) {
        const at = of * minute + offset;
        if (at >= start && at < end) counts[removed ? 1 : 0] = (counts[removed ? 1 : 0] ?? 0) + 1;
      }
      const [applied = 0, removed = 0] = counts;
      if (applied + removed > 0) add(labeler, of, applied, removed);
    }
  }

  #stampsOf(at: number): (readonly [labeler: string, stamps: Buffer | null])[] {
    if (!this.#groups) {
      const sql = 'SELECT source.name, stamps FROM counter_minute JOIN source ON source.id = source WHERE minute = ?';
      return this.#all(sql, [at]);
    }
    const rows = [
      ...this.#groups.range<readonly [number, number, number, Buffer | null]>('counter_minute', at, at + 1),
    ];
    return rows.map(([, [source, , , stamps]]) => [this.nameOf('source', source), stamps] as const);
  }

  /** Returns the numbers of refused labels in the hours that overlap the interval `start <= t < end`. */
  refusals(start: number, end: number): RefusalCount[] {
    const [from, to] = [Math.floor(start / hour), Math.ceil(end / hour)];
    if (this.#groups) {
      const refused = [...this.#groups.range<readonly [number, RefusalReason, number]>('refusal', from, to)];
      return refused.map(([, [source, reason, count]]) => ({ source: this.nameOf('source', source), reason, count }));
    }
    const rows = this.#all<[string, RefusalReason, number]>(
      `SELECT source.name, reason, sum(n) FROM refusal JOIN source ON source.id = source
       WHERE hour >= ? AND hour < ? GROUP BY source, reason`,
      [from, to],
    );
    return rows.map(([source, reason, count]) => ({ source, reason, count }));
  }

  /** Returns all positions as of the last commit to this file. */
  positions(): Position[] {
    type Row = readonly [string, string, string, Micros];
    const sql = 'SELECT source, endpoint, value, accepted_at FROM position ORDER BY source, endpoint';
    const rows = this.#groups ? this.#groups.table<Row>('position') : this.#all<Row>(sql, []);
    return rows
      .filter(([, endpoint]) => !isEarlierRefusedRows(endpoint))
      .map(([source, endpoint, value, acceptedAt]) => ({ source, endpoint, value, acceptedAt }));
  }

  /** Returns the refused rows as of the last commit to this file. A sealed day has no refused rows. */
  refusedRows(): RefusedRows[] {
    return this.form === 'open' ? refusedRowsIn(this.#file) : [];
  }

  /**
   * Returns the last stamp and the time of the last accepted page; both may be carried over from the previous day.
   */
  ends(): { last: Micros | null; through: Micros | null } {
    return { last: this.meta(metaNames.last), through: this.meta(metaNames.through) };
  }

  /** Returns a number that the file stores under a name, or null if the file has no such number. */
  meta(name: string): Micros | null {
    const value = this.#metaValue(name);
    return value === null ? null : (value as Micros);
  }

  /** Returns the generation of the store to which the file belongs, or null if the file does not state it. */
  generation(): string | null {
    const value = this.#metaValue(metaNames.generation);
    return value === null ? null : String(value);
  }

  #metaValue(name: string): number | string | null {
    type Row = readonly [string, number | string];
    if (this.#groups) return this.#groups.table<Row>('meta').find(([kept]) => kept === name)?.[1] ?? null;
    return this.#all<[number | string]>('SELECT value FROM meta WHERE name = ?', [name])[0]?.[0] ?? null;
  }

  /** Yields the identities of rows accepted at or after `since`, in stamp order. May be called only for open days. */
  *identities(since: number): Generator<readonly [id: number, identity: Buffer]> {
    const sql = 'SELECT id, identity FROM observation WHERE id >= ? ORDER BY id';
    for (const row of this.#iterate<[number, unknown]>(sql, [since])) {
      const [id, identity] = row;
      if (!Buffer.isBuffer(identity) || identity.length !== identityBytes)
        throw new StoreError('damaged', `${this.path}: row ${id} has no identity`);
      yield [id, identity];
    }
  }

  /** Yields every row in file order. For an open day, also yields the row's identity. */
  *rows(): Generator<readonly [row: StoredRow, identity: Buffer | null]> {
    const identity = this.form === 'open' ? 'identity' : 'NULL';
    const order = this.form === 'open' ? 'id' : 'subject, id';
    const sql = `SELECT ${rowColumns}, ${identity} FROM observation ORDER BY ${order}`;
    for (const row of this.#iterate<[...StoredRow, Buffer | null]>(sql, [])) {
      yield [row.slice(0, -1) as unknown as StoredRow, row.at(-1) as Buffer | null];
    }
  }

  /** Returns all hour or minute counters, each with the numeric id of its source. */
  allCounters(bucket: 'hour' | 'minute'): [bucket: number, source: number, applied: number, removed: number][] {
    return this.#all(
      `SELECT ${bucket}, source, applied, removed FROM counter_${bucket} ORDER BY ${bucket}, source`,
      [],
    );
  }

  /** Runs SQLite's integrity check and returns the problems, or an empty list if the file is sound. */
  fileProblems(): string[] {
    const found = this.#file.db.pragma('quick_check(10)') as { quick_check: string }[];
    return found.map((row) => row.quick_check).filter((text) => text !== 'ok');
  }

  /** Returns the text with a numeric id in this file. */
  readonly nameOf: NameOf = (table, id) => this.#names.textOf(table, id);

  /** Returns the texts with the given numeric ids in this file. */
  namesOf(table: NameTable, ids: ReadonlySet<number>): ReadonlyMap<number, string> {
    return this.#names.textsOf(table, ids);
  }

  #column(sql: string, parameters: readonly unknown[]): number[] {
    return this.#file.column(sql, parameters);
  }

  #all<Row>(sql: string, parameters: readonly unknown[]): Row[] {
    return this.#file.all<Row>(sql, parameters);
  }

  #iterate<Row>(sql: string, parameters: readonly number[]): Generator<Row> {
    return this.#file.iterate<Row>(sql, parameters);
  }
}

function inodeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}

/** Receives one count: labeler, time bucket, number of applications and number of removals. */
export type AddCount = (labeler: string, bucket: number, applied: number, removed: number) => void;

/**
 * Opens a sealed day with a page cache of the given size in bytes. Throws `damaged` if a pragma does not have the
 * value that a sealed day requires.
 */
export function openSealed(path: string, cacheBytes: number): Sqlite {
  try {
    return openImmutable(path, cacheBytes);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'pragma_refused') throw error;
    throw new StoreError('damaged', error.message, { cause: error });
  }
}

/**
 * Throws `damaged` unless both places that store the schema version agree. Otherwise a file with a damaged version
 * could be mistaken for a file without checksums.
 */
function assertVersion(file: DayFile, version: number): void {
  const [applied] = file.column('SELECT max(version) FROM migration', []);
  if (applied === version) return;
  throw new StoreError(
    'damaged',
    `${file.path} has schema version ${version}, but records a migration to ${String(applied)}`,
  );
}
