import { crc32 } from 'node:zlib';
import { maxBatchRows } from '../../port.ts';
import type { Sqlite } from '../base/connection.ts';
import { type StoredRow, type SubjectKey, subjectName } from '../base/row.ts';
import { countsSql, hotRows, targetSql } from '../schema/day-schema.ts';
import { maxGroups } from './stored-counts.ts';

/**
 * Counts of hot accounts, so that the page of an account with a million rows shows exact numbers by day, labeler and
 * value without reading the rows:
 *
 * - While rows are added to a day, `OpenDayCounter` maintains the counts of its hot subjects in the table `busy`, in
 *   the same commit as the rows. An in-memory table of a million small counters, which never undercount, selects the
 *   subjects to look up. Stored counts always include all rows of a subject, but some hot subjects have no stored
 *   counts, because the in-memory counting starts when the writer starts.
 * - A sealed day stores the counts of every subject with at least `hotRows` rows in `busy_groups`, packed into one
 *   value per subject with a checksum (`storeSealedDayCounts`, `stored-counts.ts`).
 * - `openDaySubtraction` and `recountOpenDay` update the counts of an open day when rows are purged or the day is
 *   repaired.
 * - `StoredCounts` reads the counts of a file and compares them with its rows.
 * - `AccountTallies` counts an account over many days: from stored counts for days that have them, otherwise from rows
 *   within a budget (`account-tally.ts`).
 *
 * Other directories import only this file.
 */

export { AccountTallies } from './account-tally.ts';
export { type CountedDay, packedRowSql, StoredCounts, storeSealedDayCounts } from './stored-counts.ts';

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
export class OpenDayCounter {
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

/** Counts to subtract from one group of a subject. */
interface RemovedCounts {
  readonly subject: SubjectKey;
  readonly source: number;
  readonly val: number;
  readonly target: number;
  readonly applied: number;
  readonly removed: number;
}

/**
 * Returns a function that subtracts removed rows from the stored counts of an open day, in the caller's transaction.
 * The function has no effect on a file of an earlier version, which stores no counts.
 */
export function openDaySubtraction(db: Sqlite): (counts: RemovedCounts) => void {
  const isStored = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'busy'").get() !== undefined;
  if (!isStored) return () => undefined;
  const group = 'subject = ? AND source = ? AND val = ? AND target = ?';
  const subtract = db.prepare(`UPDATE busy SET applied = applied - ?, removed = removed - ? WHERE ${group}`);
  const dropEmpty = db.prepare(`DELETE FROM busy WHERE ${group} AND applied = 0 AND removed = 0`);
  return ({ subject, source, val, target, applied, removed }) => {
    subtract.run(applied, removed, subject, source, val, target);
    dropEmpty.run(subject, source, val, target);
  };
}

/**
 * Recomputes the stored counts of an open day for the subjects that already have stored counts, in the caller's
 * transaction. Other hot subjects may get counts when their next rows are added.
 */
export function recountOpenDay(db: Sqlite): void {
  db.exec(`
    CREATE TEMP TABLE kept AS SELECT DISTINCT subject FROM busy;
    DELETE FROM busy;
    INSERT INTO busy SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM observation
      WHERE subject IN (SELECT subject FROM kept) GROUP BY subject, source, val, target;
    DROP TABLE kept;`);
}
