import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isObject } from '../../../input/json-budget.ts';
import { makeFolder } from '../../../ops/errors.ts';
import type {
  CopiedRow,
  CopyTarget,
  DayCounts,
  DayProgress,
  EachChunk,
  SourceLook,
  StoreContent,
} from '../../copy/parts.ts';
import { StoreError } from '../../errors.ts';
import { migrate, openReadonly, openWritable, type Sqlite, storeError, syncFolder } from '../base/connection.ts';
import {
  dayPath,
  flush,
  listDays,
  removeDatabase,
  type StorePaths,
  storePaths,
  takeWriterLock,
  unfinishedNames,
  type WriterLock,
} from '../base/files.ts';
import { RowWriter } from '../base/row.ts';
import { DayReader } from '../day/day-reader.ts';
import { metaNames, openDayMigrations, refusedRowsWriter } from '../schema/day-schema.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges } from '../state/state.ts';
import { dayRows, readDayCounts, writeDayCounts, writeState } from './content.ts';

const cacheBytes = 4 * 1024 * 1024;

/**
 * Opens a directory as the target of a copy. The directory must not contain a store. Until the copy is complete, the
 * directory contains the file `store-copy.unfinished`, which prevents every other process from opening the directory
 * as a store. All days are written as open days, each with its progress; the state file is written last. Throws
 * `occupied` if the directory contains a store or a copy of another store, and `second_writer` while another process
 * copies into it.
 */
export function openSqliteTarget(folder: string, generation: string): CopyTarget {
  const paths = storePaths(folder);
  makeFolder(folder);
  const lock = takeWriterLock(paths.lock);
  try {
    begin(paths, generation);
    mkdirSync(paths.days, { recursive: true });
    return new SqliteTarget(paths, generation, lock);
  } catch (error) {
    lock.release();
    throw storeError(error, folder);
  }
}

function begin(paths: StorePaths, generation: string): void {
  const marker = join(paths.folder, unfinishedNames.storeCopy);
  if (existsSync(marker)) {
    const found = readFileSync(marker, 'utf8').trim();
    // Ignore an empty marker, which a process left when it was killed before it copied anything.
    if (found === generation) return;
    if (found !== '') {
      throw new StoreError('occupied', `${paths.folder} contains an unfinished copy of another store`);
    }
  }
  const days = existsSync(paths.days) ? readdirSync(paths.days) : [];
  const held = [...readdirSync(paths.folder).filter((name) => name.startsWith('state.sqlite')), ...days];
  if (held.length > 0) {
    const what = `${paths.folder} already contains ${held[0]}`;
    throw new StoreError('occupied', `${what}; copy to another directory, or move the store aside with new-epoch`);
  }
  writeFileSync(marker, `${generation}\n`);
  flush(marker);
  syncFolder(paths.folder);
}

class SqliteTarget implements CopyTarget {
  readonly #paths: StorePaths;
  readonly #generation: string;
  readonly #lock: WriterLock;
  #open: TargetDay | null = null;
  /** Copy progress by day, or null until it is read. Only this process changes it. */
  #progress: Map<number, DayProgress> | null = null;

  constructor(paths: StorePaths, generation: string, lock: WriterLock) {
    this.#paths = paths;
    this.#generation = generation;
    this.#lock = lock;
  }

  progress(): Promise<readonly DayProgress[]> {
    return this.#run(() => [...this.#known().values()]);
  }

  beginDay(day: number, revision: number): Promise<void> {
    return this.#run(() => {
      this.#drop(day);
      this.#add([], { day, revision, through: -1, rows: 0, digest: '', isVerified: false });
      syncFolder(this.#paths.days);
    });
  }

  async add(rows: readonly CopiedRow[], progress: DayProgress): Promise<void> {
    await this.#run(() => this.#add(rows, progress));
    // Yield to the event loop, so that progress can be printed and the next rows can be requested.
    await nextTurn();
  }

  index(day: number): Promise<void> {
    return this.#run(() => this.#dayOf(day).index());
  }

  async rows(day: number, after: number, each: EachChunk): Promise<void> {
    const reader = this.#reader(day);
    try {
      for (const rows of dayRows(reader.path, 'open', reader.nameOf, after)) {
        await each(rows);
        await nextTurn();
      }
    } catch (error) {
      throw storeError(error, this.#paths.folder);
    } finally {
      reader.close();
    }
  }

  putCounts(day: number, counts: DayCounts): Promise<void> {
    return this.#run(() => this.#dayOf(day).putCounts(counts));
  }

  counts(day: number): Promise<DayCounts> {
    return this.#run(() => {
      const reader = this.#reader(day);
      const db = openReadonly(reader.path, cacheBytes);
      try {
        return readDayCounts(db, reader);
      } finally {
        db.close();
        reader.close();
      }
    });
  }

  verified(progress: DayProgress): Promise<void> {
    return this.#run(() => this.#add([], progress));
  }

  dropDay(day: number): Promise<void> {
    return this.#run(() => this.#drop(day));
  }

  complete(look: SourceLook, content: StoreContent): Promise<void> {
    return this.#run(() => {
      const days = look.days.map(({ day }) => day);
      let last: number | null = null;
      for (const day of days) last = this.#completeDay(day, look, day === days.at(-1) ? content : null, last);
      this.#close();
      this.#writeState(look, content);
      for (const day of days) flush(dayPath(this.#paths, day, 'open'));
      for (const folder of [this.#paths.days, this.#paths.folder]) syncFolder(folder);
      rmSync(join(this.#paths.folder, unfinishedNames.storeCopy));
      syncFolder(this.#paths.folder);
    });
  }

  close(): Promise<void> {
    return this.#run(() => {
      this.#close();
      this.#lock.release();
    });
  }

  /**
   * Completes a day's file. `content` is null except for the newest day, which stores the positions and refused rows.
   * Returns the stamp of the day's last row, or `before` if the day has no row.
   */
  #completeDay(day: number, look: SourceLook, content: StoreContent | null, before: number | null): number | null {
    let last = before;
    this.#dayOf(day).complete((db) => {
      const put = db.prepare('INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)');
      const row = db.prepare<[], number>('SELECT id FROM observation ORDER BY id DESC LIMIT 1').pluck().get();
      last = row ?? before;
      const stated = content === null ? last : look.last;
      if (stated !== null) put.run(metaNames.last, stated);
      // If the stamps differ, the last accepted row was removed. Its stamp must not be assigned again, so it remains in
      // `last`. The mark makes `verify` accept a `last` after the last row.
      if (row !== undefined && stated !== row) put.run(metaNames.purged, 1);
      if (content === null) return;
      if (look.through !== null) put.run(metaNames.through, look.through);
      db.exec('DELETE FROM position; DELETE FROM refused_rows');
      const place = db.prepare('INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)');
      for (const { source, endpoint, value, acceptedAt } of content.positions) {
        place.run(source, endpoint, value, acceptedAt);
      }
      refusedRowsWriter(db)(content.refusedRows);
    });
    return last;
  }

  #writeState({ epoch, floor, revision, heartbeat, days }: SourceLook, content: StoreContent): void {
    removeDatabase(this.#paths.state);
    const db = openWritable(this.#paths.state, cacheBytes);
    try {
      migrate(db, stateMigrations, new Date().toISOString());
      const state = stateChanges(db);
      db.transaction(() => {
        db.prepare(
          'INSERT INTO epoch(one, generation, started_at, floor, heartbeat, revision) VALUES (1, ?, ?, ?, ?, ?)',
        ).run(epoch.generationId, epoch.startedAt, floor, heartbeat, revision);
        for (const { day } of days) state.addDay(day, false);
        writeState(db, state, content);
      }).immediate();
    } finally {
      db.close();
    }
  }

  #known(): Map<number, DayProgress> {
    this.#progress ??= new Map(
      listDays(this.#paths).flatMap(({ day }) => {
        const found = this.#dayOf(day).progress();
        return found === null ? [] : [[day, found] as const];
      }),
    );
    return this.#progress;
  }

  #add(rows: readonly CopiedRow[], progress: DayProgress): void {
    this.#dayOf(progress.day).add(rows, progress);
    this.#known().set(progress.day, progress);
  }

  #dayOf(day: number): TargetDay {
    if (this.#open?.day === day) return this.#open;
    this.#close();
    this.#open = new TargetDay(dayPath(this.#paths, day, 'open'), day, this.#generation);
    return this.#open;
  }

  #reader(day: number): DayReader {
    this.#dayOf(day);
    return new DayReader(dayPath(this.#paths, day, 'open'), day, 'open');
  }

  #drop(day: number): void {
    this.#close();
    this.#known().delete(day);
    removeDatabase(dayPath(this.#paths, day, 'open'));
  }

  #close(): void {
    this.#open?.close();
    this.#open = null;
  }

  async #run<T>(work: () => T): Promise<T> {
    try {
      return await Promise.resolve(work());
    } catch (error) {
      throw storeError(error, this.#paths.folder);
    }
  }
}

const dayCacheBytes = 64 * 1024 * 1024;
/** Name of the copy progress in `meta`; `complete` removes it. */
const progressName = 'copy';
const indexName = 'observation_subject';

/** Day file of an unfinished copy, with the schema of an open day. */
class TargetDay {
  readonly day: number;
  readonly path: string;
  readonly #db: Sqlite;
  readonly #rows: RowWriter;
  readonly #add: (rows: readonly CopiedRow[], progress: DayProgress) => void;

  /** Opens the file, and creates it if it does not exist. */
  constructor(path: string, day: number, generation: string) {
    this.day = day;
    this.path = path;
    const isNew = !existsSync(path);
    this.#db = openWritable(path, dayCacheBytes);
    try {
      migrate(this.#db, openDayMigrations, new Date().toISOString());
      this.#rows = new RowWriter(this.#db);
      const put = this.#db.prepare('INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)');
      put.run(metaNames.generation, generation);
      // Drop the index of a new file; `index` builds it once, after most rows are stored.
      if (isNew) this.#db.exec(`DROP INDEX IF EXISTS ${indexName}`);
      this.#add = this.#db.transaction((rows: readonly CopiedRow[], progress: DayProgress) => {
        this.#rows.write(rows);
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
    this.#change(() => this.#db.transaction(() => writeDayCounts(this.#db, counts, this.#rows.intern)).immediate());
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
      this.#rows.forget();
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
