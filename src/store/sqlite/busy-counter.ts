import { crc32 } from 'node:zlib';
import { maxBatchRows } from '../port.ts';
import { countsSql, targetSql } from './busy.ts';
import type { Sqlite } from './connection.ts';
import { busyRows } from './day-schema.ts';
import { type StoredRow, type SubjectKey, subjectName } from './row.ts';

/** Counters of one byte that subjects share by their hash: none says less than a subject's rows since the start. */
const counters = 2 ** 20;
const highest = 255;
/** A did:plc has 15 bytes. Of subjects with longer names than this nothing is kept, which bounds what a commit writes. */
const maxKeyLength = 128;
/** Rows of subjects that a commit begins to keep counts of; who is beyond them has its turn with its next row. */
const beginRows = 2 * maxBatchRows;

/**
 * Keeps, while a day is written, the counts of subjects with many rows. What is kept of a subject counts every one of
 * its rows; that nothing is kept of one says nothing, as rows are noticed from the writer's start on.
 */
export class BusyCounter {
  readonly #noticed = Buffer.alloc(counters);
  readonly #kept: (subject: SubjectKey) => boolean;
  /** How many rows a subject has, at most so many. */
  readonly #rows: (subject: SubjectKey, most: number) => number;
  /** Adds a subject's rows from a stamp on. */
  readonly #add: (subject: SubjectKey, from: number) => void;

  constructor(db: Sqlite) {
    const kept = db.prepare<[SubjectKey], 1>('SELECT 1 FROM busy WHERE subject = ? LIMIT 1').pluck();
    const rows = db
      .prepare<[SubjectKey, number], number>(
        'SELECT count(*) FROM (SELECT 1 FROM observation WHERE subject = ? LIMIT ?)',
      )
      .pluck();
    const add = db.prepare<[SubjectKey, number]>(
      `INSERT INTO busy SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM observation
       WHERE subject = ? AND id >= ? GROUP BY source, val, target
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
    this.#kept = (subject) => kept.get(subject) !== undefined;
    this.#rows = (subject, most) => rows.get(subject, most) ?? 0;
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
    for (const subject of many.values()) {
      if (subject.length > maxKeyLength) continue;
      if (this.#kept(subject)) {
        this.#add(subject, from);
        continue;
      }
      const found = this.#rows(subject, left + 1);
      if (found < busyRows || found > left) continue;
      this.#add(subject, 0);
      left -= found;
    }
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
