import { existsSync } from 'node:fs';
import { isObject } from '../../../input/json-budget.ts';
import type { CopiedRow, DayCounts, DayProgress } from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { openWritable, type Sqlite } from '../base/connection.ts';
import { migrate } from '../base/migrate.ts';
import type { Intern } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { rowWriter } from '../day/commit-tables.ts';
import { internerOf } from '../day/interner.ts';
import { metaNames, openDayMigrations } from '../schema/day-schema.ts';
import { RememberedNames } from '../schema/remembered-names.ts';
import { writeDayCounts } from './day-counts.ts';

const cacheBytes = 64 * 1024 * 1024;
/** Name of the copy progress in `meta`; `complete` removes it. */
const progressName = 'copy';
const indexName = 'observation_subject';

/** Day file of an unfinished copy, with the schema of an open day. */
export class TargetDay {
  readonly day: number;
  readonly path: string;
  readonly #db: Sqlite;
  readonly #names = new RememberedNames();
  readonly #intern: Intern;
  readonly #add: (rows: readonly CopiedRow[], progress: DayProgress) => void;

  /** Opens the file, and creates it if it does not exist. */
  constructor(path: string, day: number, generation: string) {
    this.day = day;
    this.path = path;
    const isNew = !existsSync(path);
    this.#db = openWritable(path, cacheBytes);
    try {
      migrate(this.#db, openDayMigrations, new Date().toISOString());
      this.#intern = internerOf(this.#db, this.#names);
      const put = this.#db.prepare('INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)');
      put.run(metaNames.generation, generation);
      // Drop the index of a new file; `index` builds it once, after most rows are stored.
      if (isNew) this.#db.exec(`DROP INDEX IF EXISTS ${indexName}`);
      const write = rowWriter(this.#db, this.#intern);
      this.#add = this.#db.transaction((rows: readonly CopiedRow[], progress: DayProgress) => {
        write(rows);
        put.run(progressName, JSON.stringify(progress));
        if (rows.length > 0) put.run(metaNames.last, progress.through);
      }).immediate;
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Adds rows and records the new progress in the same commit. */
  add(rows: readonly CopiedRow[], progress: DayProgress): void {
    this.#change(() => this.#add(rows, progress));
  }

  /** Returns the copy progress recorded in the file, or null if none is recorded. */
  progress(): DayProgress | null {
    const text = this.#db.prepare<[string], unknown>('SELECT value FROM meta WHERE name = ?').pluck().get(progressName);
    return text === undefined ? null : parseProgress(text, this.path);
  }

  /** Creates the row index with the same definition as the schema of an open day. */
  index(): void {
    this.#change(() =>
      this.#db.exec(
        `CREATE INDEX IF NOT EXISTS ${indexName} ON observation(subject, id, source, val, collection, flags)`,
      ),
    );
  }

  putCounts(counts: DayCounts): void {
    this.#change(() => this.#db.transaction(() => writeDayCounts(this.#db, counts, this.#intern)).immediate());
  }

  /**
   * Turns the copied file into a finished day file: creates the row index if it is missing, then runs `work` and
   * removes the copy progress in one transaction.
   */
  complete(work: (db: Sqlite) => void): void {
    this.index();
    this.#change(() =>
      this.#db
        .transaction(() => {
          work(this.#db);
          this.#db.prepare('DELETE FROM meta WHERE name = ?').run(progressName);
        })
        .immediate(),
    );
  }

  close(): void {
    this.#db.close();
  }

  #change(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#names.clear();
      throw storeError(error, this.path);
    }
  }
}

function parseProgress(text: unknown, path: string): DayProgress {
  const value: unknown = typeof text === 'string' ? JSON.parse(text) : null;
  if (isObject(value)) {
    const { day, revision, through, rows, digest, isVerified } = value;
    if (
      typeof day === 'number' &&
      typeof revision === 'number' &&
      typeof through === 'number' &&
      typeof rows === 'number' &&
      typeof digest === 'string' &&
      typeof isVerified === 'boolean'
    ) {
      return { day, revision, through, rows, digest, isVerified };
    }
  }
  throw new StoreError('damaged', `${path}: the copy progress in this file cannot be read`);
}
