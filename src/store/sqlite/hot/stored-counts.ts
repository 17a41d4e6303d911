import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import type { DayForm } from '../base/files.ts';
import { schemaVersion } from '../base/migrate.ts';
import { type NameOf, type SubjectKey, sameKey, subjectDid } from '../base/row.ts';
import type { DayFile } from '../schema/day-file.ts';
import { checkedFrom } from '../schema/day-schema.ts';
import {
  bySubject,
  countedSql,
  type Group,
  groupsSeed,
  type HotSubject,
  hotSubjectsSql,
  maxGroups,
  packGroups,
  unpackGroups,
} from './group.ts';

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
