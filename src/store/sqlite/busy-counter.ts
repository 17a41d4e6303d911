import { crc32 } from 'node:zlib';
import { maxBatchRows } from '../port.ts';
import { countsSql, mostGroups, targetSql } from './busy.ts';
import type { Sqlite } from './connection.ts';
import { busyRows } from './day-schema.ts';
import { type StoredRow, type SubjectKey, subjectName } from './row.ts';

/** Counters of one byte that subjects share by their hash: none says less than a subject's rows since the start. */
const counters = 2 ** 20;
const highest = 255;
/** A did:plc has 15 bytes. Of subjects with longer names than this nothing is kept, which bounds what a commit writes. */
const maxKeyLength = 128;
/**
 * Rows of subjects that one commit begins to keep counts of. One subject may have more: rows of before the file kept
 * any, or that went unnoticed over starts of the writer.
 */
const beginRows = 2 * maxBatchRows;
/** Subjects remembered that have too many groups for anybody to read. */
const maxRefused = 10_000;

/**
 * Keeps, while a day is written, the counts of subjects with many rows. What is kept of a subject counts every one of
 * its rows; that nothing is kept of one says nothing, as rows are noticed from the writer's start on.
 */
export class BusyCounter {
  readonly #noticed = Buffer.alloc(counters);
  readonly #kept: (subject: SubjectKey) => boolean;
  readonly #refused = new Set<string>();
  /** Number of a subject's rows and of the groups that they form, each capped at `most`. */
  readonly #rows: (subject: SubjectKey, most: number) => number;
  readonly #groups: (subject: SubjectKey, most: number) => number;
  /** Adds a subject's rows from a stamp on. */
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
    // No row of a subject whose counts are kept may pass unnoticed.
    for (const subject of db.prepare<[], SubjectKey>('SELECT DISTINCT subject FROM busy').pluck().iterate()) {
      this.#noticed[counterOf(subject)] = highest;
    }
  }

  /** Counts rows that the same transaction has inserted, from their first stamp on. */
  count(rows: readonly StoredRow[]): void {
    const [from] = rows[0] ?? [];
    if (from === undefined) return;
    const many = new Map<string, SubjectKey>();
    for (const [, subject] of rows) {
      if (this.#notice(subject) >= busyRows) many.set(subjectName(subject), subject);
    }
    let left = beginRows;
    for (const [name, subject] of many) {
      if (subject.length > maxKeyLength || this.#refused.has(name)) continue;
      if (this.#kept(subject)) this.#add(subject, from);
      else left -= this.#begin(name, subject, left);
    }
  }

  /** Begins to keep a subject's counts where its rows are left to this commit; who is beyond has its turn with later rows. */
  #begin(name: string, subject: SubjectKey, left: number): number {
    if (left <= 0) return 0;
    const rows = this.#rows(subject, left + 1);
    if (rows < busyRows) return 0;
    if (rows > left) {
      if (left < beginRows) return 0;
      if (this.#groups(subject, mostGroups + 1) > mostGroups) {
        if (this.#refused.size >= maxRefused) this.#refused.clear();
        this.#refused.add(name);
        return left;
      }
    }
    this.#add(subject, 0);
    return rows;
  }

  /** At least the subject's rows since the start, as far as a counter counts. A commit that fails only overstates it. */
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
