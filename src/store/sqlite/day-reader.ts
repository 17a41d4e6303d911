import { statSync } from 'node:fs';
import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../errors.ts';
import { identityBytes } from '../identity.ts';
import type { AccountFilter, AccountQuery, Observation, Position, RefusalCount, RefusalReason } from '../port.ts';
import { hour, minute } from '../time.ts';
import { AccountRows } from './account-rows.ts';
import { type BusySubject, busySql, bySubject, countedSql, groupsSeed, mostGroups } from './busy.ts';
import { type ChecksumProblem, checkDay } from './check-day.ts';
import { openImmutable, openReadonly, type Sqlite, storeError } from './connection.ts';
import { DayFile } from './day-file.ts';
import { checkedFrom, metaNames, openDayMigrations, rowColumns, sealedDayMigrations } from './day-schema.ts';
import type { DayForm } from './files.ts';
import type { Group } from './group.ts';
import { CheckedGroups } from './group-sums.ts';
import { assertKnown, schemaVersion } from './migrate.ts';
import { Names } from './names.ts';
import { unpackGroups } from './packed-groups.ts';
import { decodeOpenRow, decodeRow, type NameOf, removalFlag, type StoredRow, type SubjectKey, sameKey } from './row.ts';
import { unpackStamps } from './stamps.ts';
import { mayHold, subjectsSql } from './subject-filter.ts';

/** Memory for pages of one day's file: the system's own cache does the rest. */
const cacheBytes = 2 * 1024 * 1024;

/** Takes one count: a labeler, a bucket of time, and what was applied and removed in it. */
export type Tally = (labeler: string, bucket: number, applied: number, removed: number) => void;

type Order = AccountQuery['order'];

let opened = 0;

/** Queries of one day's file, of either form. */
export class DayReader {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Differs for every opened file: what was read of one is not valid of another. */
  readonly serial = ++opened;
  #keepsBusy: boolean;
  /** True if each subject's counts are stored together: in a sealed file, unless an older version wrote it. */
  readonly #packsBusy: boolean;
  readonly #inode: number | null;
  readonly #file: DayFile;
  readonly #names: Names;
  readonly #rows: AccountRows;
  /** Null where the file has no checksums. */
  readonly #groups: CheckedGroups | null;
  /** True if the file has a filter of its subjects: a sealed one does, unless an older version wrote it. */
  readonly keepsFilter: boolean;
  #filterBlocks: number | null = null;
  /** The last answer of the filter: one page asks several times of one account, and a sealed day never changes. */
  #asked: { readonly key: SubjectKey; readonly held: boolean } | null = null;

  constructor(path: string, day: number, form: DayForm) {
    this.day = day;
    this.form = form;
    this.path = path;
    this.#inode = inodeOf(path);
    const db = form === 'sealed' ? openSealed(path) : openReadonly(path, cacheBytes);
    this.#file = new DayFile(db, path);
    try {
      assertKnown(db, form === 'sealed' ? sealedDayMigrations : openDayMigrations);
      const version = schemaVersion(db);
      if (form === 'sealed') assertVersion(this.#file, version);
      this.#keepsBusy = version >= keepsBusyFrom[form];
      this.#packsBusy = form === 'sealed' && version >= 4;
      this.keepsFilter = form === 'sealed' && version >= 3;
      const isChecked = form === 'sealed' && version >= checkedFrom;
      this.#groups = isChecked ? new CheckedGroups(this.#file, day) : null;
      this.#names = new Names(this.#file, day, isChecked);
      const kind = form === 'open' ? 'open' : isChecked ? 'checked' : 'unchecked';
      this.#rows = new AccountRows(this.#file, this.#names, day, kind);
    } catch (error) {
      db.close();
      throw storeError(error, path);
    }
  }

  /** True if reads are compared with checksums: in a sealed file, unless an older version wrote it. */
  get isChecked(): boolean {
    return this.#groups !== null;
  }

  /** Differences between a file with checksums and what was sealed; none for a file without checksums. */
  *checksumProblems(): Generator<ChecksumProblem> {
    if (this.isChecked) yield* checkDay(this.#file, this.day);
  }

  /** True if the file was replaced by one with checksums since it was opened. */
  get isReplaced(): boolean {
    return this.form === 'sealed' && !this.isChecked && inodeOf(this.path) !== this.#inode;
  }

  close(): void {
    this.#file.db.close();
  }

  /**
   * True if the file stores counts of subjects with many rows. A file of an older version does not, until its writer
   * continues it.
   */
  get keepsBusy(): boolean {
    if (!this.#keepsBusy && this.form === 'open') this.#keepsBusy = schemaVersion(this.#file.db) >= keepsBusyFrom.open;
    return this.#keepsBusy;
  }

  /** One state of the file for several queries; synchronous, so that it is never held across ticks. */
  atOnce<T>(work: () => T): T {
    return this.#file.db.transaction(work)();
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
    return mayHold(key, { path: this.path, placed: this.isChecked, count: blocks, read });
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
    const rows = this.#rows.rows({ key, start, end, limit }, order, filter);
    const decode = this.form === 'open' ? decodeOpenRow : decodeRow;
    try {
      return rows.map((row): Observation => decode(row, this.nameOf, this.path));
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // A time or a text that no row was ever stored with.
      throw new StoreError('damaged', `${this.path}: a row that cannot be decoded`, { cause: error });
    }
  }

  /** An account's rows with `start <= id < end`, at most so many of them, as one number each (`packedSql`). */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[] {
    return this.#rows.packed({ key, start, end, limit });
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
    return found ? unpackGroups(found[0], this.path, this.#seedOf(key)) : [];
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
    for (const [subject, groups] of packed) {
      yield { subject, groups: unpackGroups(groups, this.path, this.#seedOf(subject)) };
    }
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
    const stamps = this.#rows.stamps({ key, start, end, limit: most });
    const last = stamps.at(-1);
    return last === undefined ? null : { rows: stamps.length, last };
  }

  /** Counters of whole hours or minutes, `from` inclusive, `to` exclusive. */
  counters(bucket: 'hour' | 'minute', from: number, to: number, tally: Tally): void {
    if (this.#groups) {
      const counted = this.#groups.range<readonly [number, number, number]>(`counter_${bucket}`, from, to);
      for (const [at, [source, applied, removed]] of counted)
        tally(this.nameOf('source', source), at, applied, removed);
      return;
    }
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
    for (const [labeler, stamps] of this.#stampsOf(of)) {
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

  /** Refusals of the hours that `start <= t < end` touches. */
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

  /** Every position as of this file's last commit. */
  positions(): Position[] {
    type Row = readonly [string, string, string, Micros];
    const sql = 'SELECT source, endpoint, value, accepted_at FROM position ORDER BY source, endpoint';
    const rows = this.#groups ? this.#groups.table<Row>('position') : this.#all<Row>(sql, []);
    return rows.map(([source, endpoint, value, acceptedAt]) => ({ source, endpoint, value, acceptedAt }));
  }

  /** Last stamp and last accepted batch, this day's or carried over from before. */
  ends(): { last: Micros | null; through: Micros | null } {
    return { last: this.meta(metaNames.last), through: this.meta(metaNames.through) };
  }

  /** A number that the file keeps under a name; null when it has none. */
  meta(name: string): Micros | null {
    const value = this.#metaValue(name);
    return value === null ? null : (value as Micros);
  }

  /** The store's generation that the file belongs to. */
  generation(): string | null {
    const value = this.#metaValue(metaNames.generation);
    return value === null ? null : String(value);
  }

  #metaValue(name: string): number | string | null {
    type Row = readonly [string, number | string];
    if (this.#groups) return this.#groups.table<Row>('meta').find(([kept]) => kept === name)?.[1] ?? null;
    return this.#all<[number | string]>('SELECT value FROM meta WHERE name = ?', [name])[0]?.[0] ?? null;
  }

  /** Identities of rows accepted at or after an instant, in order; open days only. */
  *identities(since: number): Generator<readonly [id: number, identity: Buffer]> {
    const sql = 'SELECT id, identity FROM observation WHERE id >= ? ORDER BY id';
    for (const row of this.#iterate<[number, unknown]>(sql, [since])) {
      const [id, identity] = row;
      if (!Buffer.isBuffer(identity) || identity.length !== identityBytes)
        throw new StoreError('damaged', `${this.path}: row ${id} has no identity`);
      yield [id, identity];
    }
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
    const found = this.#file.db.pragma('quick_check(10)') as { quick_check: string }[];
    return found.map((row) => row.quick_check).filter((text) => text !== 'ok');
  }

  /** The text of a number in this file. */
  readonly nameOf: NameOf = (table, id) => this.#names.textOf(table, id);

  #seedOf(subject: SubjectKey): number {
    return this.isChecked ? groupsSeed(subject) : 0;
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

/** Opens a sealed day; one that is not as a seal leaves it is damaged. */
function openSealed(path: string): Sqlite {
  try {
    return openImmutable(path, cacheBytes);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'pragma_refused') throw error;
    throw new StoreError('damaged', error.message, { cause: error });
  }
}

/** An altered version would let a file pass for one without checksums: it is kept in two places. */
function assertVersion(file: DayFile, version: number): void {
  const [applied] = file.column('SELECT max(version) FROM migration', []);
  if (applied === version) return;
  throw new StoreError('damaged', `${file.path} has schema ${version} and the steps of ${String(applied)}`);
}

/** The version of each form from which on counts of subjects with many rows are kept. */
const keepsBusyFrom: Readonly<Record<DayForm, number>> = { sealed: 2, open: 3 };
/** Groups of a subject that is no trouble to read. */
const fewGroups = 1_000;
/** Bytes that a packed group takes, about. */
const packedGroupBytes = 5;
