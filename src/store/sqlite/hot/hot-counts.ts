import { crc32 } from 'node:zlib';
import { StoreError } from '../../errors.ts';
import { type Sqlite, schemaVersion } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { type NameOf, removalFlag, type SubjectKey, sameKey, subjectDid } from '../base/row.ts';
import { checkedFrom, countsSql, type DayFile, hotRows, targetSql } from '../schema/day-schema.ts';

/**
 * Counts of hot accounts, so that the page of an account with a million rows shows exact numbers by day, labeler and
 * value without reading the rows:
 *
 * - An open day stores the counts of its hot subjects in the table `busy`. The writer updates them in the commit that
 *   adds rows (`OpenDayCounter`), and the removal of rows subtracts from them. Stored counts always include all rows of
 *   a subject, but some hot subjects have no stored counts, because the in-memory counting starts when the writer starts.
 * - A sealed day stores the counts of every subject with at least `hotRows` rows in `busy_groups`, packed into one
 *   value per subject with a checksum.
 * - `StoredCounts` reads the counts of a file and compares them with its rows; `AccountTallies` counts an account over
 *   many days: from stored counts for days that have them, otherwise from rows within a budget.
 */

/** First schema version with stored counts, for each form of a day. */
const storedFrom: Readonly<Record<DayForm, number>> = { sealed: 2, open: 3 };
/** First schema version of a sealed day that packs the counts of each subject into one value. */
const packedFrom = 4;
/** Maximum number of groups per subject that can be read quickly. */
const fewGroups = 1_000;
/** Approximate size of a packed group, in bytes. */
const packedGroupBytes = 5;

/** Reads the hot-account counts that a day's file stores, for open and sealed days. */
export class StoredCounts {
  readonly #file: DayFile;
  readonly #form: DayForm;
  readonly #isPacked: boolean;
  readonly #isChecked: boolean;
  #isStored: boolean;

  constructor(file: DayFile, form: DayForm, version: number) {
    this.#file = file;
    this.#form = form;
    this.#isPacked = form === 'sealed' && version >= packedFrom;
    this.#isChecked = form === 'sealed' && version >= checkedFrom;
    this.#isStored = version >= storedFrom[form];
  }

  /**
   * True if the file stores counts. An open day of an earlier version stores counts once a writer of this version has
   * opened it.
   */
  get isStored(): boolean {
    if (!this.#isStored && this.#form === 'open') this.#isStored = schemaVersion(this.#file.db) >= storedFrom.open;
    return this.#isStored;
  }

  /**
   * Returns the stored groups of an account, or an empty list if none are stored. If the account has more than
   * `maxGroups` groups, returns only the first `maxGroups + 1`. The groups of an open day include its latest rows.
   */
  groupsOf(key: SubjectKey): readonly Group[] {
    if (!this.isStored) return [];
    if (!this.#isPacked) {
      const sql = 'SELECT source, val, target, applied, removed FROM busy WHERE subject = ? LIMIT ?';
      return this.#file.all<Group>(sql, [key, maxGroups + 1]);
    }
    const [found] = this.#file.all<[Buffer]>('SELECT packed FROM busy_groups WHERE subject = ?', [key]);
    return found ? this.#unpacked(key, found[0]) : [];
  }

  /**
   * Returns up to `limit` subjects with stored groups, in descending key order. Excludes subjects with more than about
   * `fewGroups` groups.
   */
  subjects(limit: number): SubjectKey[] {
    if (!this.isStored) return [];
    const few = this.#isPacked
      ? `busy_groups WHERE length(packed) <= ${fewGroups * packedGroupBytes}`
      : `busy GROUP BY subject HAVING count(*) <= ${fewGroups}`;
    const sql = `SELECT subject FROM ${few} ORDER BY subject DESC LIMIT ?`;
    return this.#file.all<[SubjectKey]>(sql, [limit]).map(([subject]) => subject);
  }

  /** Yields the differences between the stored counts and the rows of the file. */
  *problems(): Generator<string> {
    if (!this.isStored) return;
    if (this.#form === 'sealed') {
      const problem = this.#sealedProblem();
      if (problem !== null) yield problem;
      return;
    }
    // An open day may lack the counts of some hot subjects, so only the stored counts are compared.
    for (const { subject, groups } of this.#stored()) {
      const counted = this.#file.all<Group>(countedSql, [subject]).slice(0, maxGroups + 1);
      if (!sameGroups(groups, counted)) yield mismatch(subject);
    }
  }

  /**
   * Returns the first problem of a sealed day's stored counts, or null if there is none. Every hot subject must have
   * correct counts, and no other subject may have counts.
   */
  #sealedProblem(): string | null {
    const stored = this.#stored();
    try {
      for (const { subject, groups } of this.#computed()) {
        const { done, value } = stored.next();
        if (done || !sameKey(value.subject, subject) || !sameGroups(value.groups, groups)) return mismatch(subject);
      }
      return stored.next().done ? null : 'counts are stored for a subject with too few rows';
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return error.message;
    } finally {
      // Close the query: the connection cannot run another query while this one is unfinished.
      stored.return(undefined);
    }
  }

  /** Yields every subject with stored groups, in key order. */
  *#stored(): Generator<HotSubject> {
    if (!this.#isPacked) {
      const sql =
        'SELECT subject, source, val, target, applied, removed FROM busy ORDER BY subject, source, val, target';
      yield* bySubject(this.#file.iterate<[SubjectKey, ...Group]>(sql, []));
      return;
    }
    const sql = 'SELECT subject, packed FROM busy_groups ORDER BY subject';
    for (const [subject, packed] of this.#file.iterate<[SubjectKey, Buffer]>(sql, [])) {
      yield { subject, groups: this.#unpacked(subject, packed) };
    }
  }

  /**
   * Yields the subjects for which a sealed file must store groups, with groups computed from its rows, in the order of
   * `#stored`.
   */
  *#computed(): Generator<HotSubject> {
    for (const counted of bySubject(this.#file.iterate<[SubjectKey, ...Group]>(hotSubjectsSql, []))) {
      if (!this.#isPacked || counted.groups.length <= maxGroups) yield counted;
    }
  }

  #unpacked(subject: SubjectKey, packed: Buffer): Group[] {
    return unpackGroups(packed, this.#file.path, this.#isChecked ? groupsSeed(subject) : 0);
  }
}

function mismatch(subject: SubjectKey): string {
  return `the counts of ${subjectDid(subject)} do not match its rows`;
}

function sameGroups(a: readonly Group[], b: readonly Group[]): boolean {
  return a.length === b.length && a.every((group, i) => group.every((value, column) => value === b[i]?.[column]));
}

/** Methods of a day's file that are needed to count an account's rows. */
export interface CountedDay {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  /** Number that is different for each opened file. */
  readonly serial: number;
  readonly hotCounts: StoredCounts;
  /** Returns the text with a numeric id in this file. */
  readonly nameOf: NameOf;
  /** Returns false if the file certainly contains no row of the account. */
  mayHold(key: SubjectKey): boolean;
  /**
   * Returns an account's rows with `start <= id < end`, at most `limit` rows, each as one number (see `packedRowSql`).
   */
  packedRows(key: SubjectKey, start: number, end: number, limit: number): number[];
  /** Runs several queries on one snapshot of the file. */
  atOnce<T>(work: () => T): T;
}

/**
 * Computes and stores the counts of hot subjects in a complete sealed day. Subjects with too many groups to read are
 * omitted.
 */
export function storeSealedDayCounts(db: Sqlite): void {
  const rows = db.prepare<[], [SubjectKey, ...Group]>(hotSubjectsSql).raw();
  // Insert after the query has ended, because the connection cannot write while a query runs.
  const packed: (readonly [SubjectKey, Buffer])[] = [];
  for (const { subject, groups } of bySubject(rows.iterate())) {
    if (groups.length <= maxGroups) packed.push([subject, packGroups(groups, groupsSeed(subject))]);
  }
  const insert = db.prepare('INSERT INTO main.busy_groups(subject, packed) VALUES (?, ?)');
  db.transaction(() => {
    for (const [subject, groups] of packed) insert.run(subject, groups);
  })();
}

/**
 * One group of a subject's rows: numeric ids of labeler and value, index of the target kind in `targetKinds`, and the
 * number of applications and removals.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/**
 * Maximum number of a subject's stored groups that are read from a day. For a subject with more groups, rows are
 * counted within the budget instead.
 */
export const maxGroups = 5_000;

/** Groups of one subject, in order. Contains at most the first `maxGroups + 1` groups. */
interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}

/** SQL that counts the rows of one subject by group, in group order. */
const countedSql = `SELECT source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject = ? GROUP BY source, val, target ORDER BY source, val, target`;

/** SQL that counts the rows of every hot subject by group, ordered by subject. */
export const hotSubjectsSql = `SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject IN (SELECT subject FROM main.observation GROUP BY subject HAVING count(*) >= ${hotRows})
  GROUP BY subject, source, val, target ORDER BY subject, source, val, target`;

/** Collects rows that are sorted by subject into the groups of each subject. */
function* bySubject(rows: Iterable<readonly [SubjectKey, ...Group]>): Generator<HotSubject> {
  let last: { readonly subject: SubjectKey; readonly groups: Group[] } | null = null;
  for (const [subject, ...group] of rows) {
    if (last === null || !sameKey(last.subject, subject)) {
      if (last) yield last;
      last = { subject, groups: [] };
    }
    if (last.groups.length <= maxGroups) last.groups.push(group);
  }
  if (last) yield last;
}

/**
 * Encoding of one subject's groups on one day in a few bytes each, so that a page reads one location in the file
 * instead of a row per group. Each group consists of varints: the increase of the labeler's id, one number for the
 * value's id and the target, and the two counts. A checksum follows the groups, because a flipped bit would result in a
 * wrong count.
 */

const crcBytes = 4;
const targets = 3;

/** Packs groups, which must be sorted by source, value and target. `seed` initializes the checksum. */
export function packGroups(groups: readonly Group[], seed = 0): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (const [source, val, target, applied, removed] of groups) {
    for (let value of [source - before, val * targets + target, applied, removed]) {
      for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value & 0x7f) | 0x80);
      bytes.push(value);
    }
    before = source;
  }
  const packed = Buffer.alloc(bytes.length + crcBytes);
  packed.set(bytes);
  packed.writeUInt32LE(crc32(packed.subarray(0, bytes.length), seed), bytes.length);
  return packed;
}

/** Unpacks groups that were read from the file `path`. Throws `damaged` if the checksum does not match. */
export function unpackGroups(packed: Buffer, path: string, seed = 0): Group[] {
  const end = packed.length - crcBytes;
  if (end < 0 || crc32(packed.subarray(0, end), seed) !== packed.readUInt32LE(end)) {
    throw new StoreError('damaged', `${path}: the counts of an account do not match their checksum`);
  }
  const groups: Group[] = [];
  let at = 0;
  let source = 0;
  function next(): number {
    let value = 0;
    for (let scale = 1; at < end; scale *= 0x80) {
      const byte = packed[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }
  while (at < end) {
    source += next();
    const about = next();
    groups.push([source, Math.floor(about / targets), about % targets, next(), next()]);
  }
  return groups;
}

/**
 * Returns the checksum seed of a subject's packed groups, which makes the groups of any other subject fail the check.
 */
export function groupsSeed(subject: SubjectKey): number {
  return crc32(subject, typeof subject === 'string' ? 1 : 2);
}

/**
 * Returns SQL that encodes the labeler, value, target and action of a row as one number, because SQLite returns one
 * number several times faster than four columns. The encoding is exact while a day's file has fewer than 2^20 labelers
 * and 2^29 values. `target` is the SQL expression of the row's target.
 */
export function packedRowSql(target: string): string {
  return `source * ${2 ** 32} + val * 8 + (${target}) * 2 + (flags & ${removalFlag} <> 0)`;
}

/**
 * Counts rows that `packedRowSql` encoded. Returns one group for each combination of labeler, value, target and action:
 * a group has only applications or only removals.
 */
export function groupsOfPacked(rows: readonly number[]): Group[] {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return [...counts].map(([row, n]) => {
    const group = Math.floor(row / 2);
    const removed = row % 2 === 1;
    const ids = [Math.floor(group / 2 ** 31), Math.floor(group / 4) % 2 ** 29, group % 4] as const;
    return [...ids, removed ? 0 : n, removed ? n : 0];
  });
}
