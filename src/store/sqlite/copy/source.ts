import { existsSync } from 'node:fs';
import type { CopiedPurge, CopySource, EachChunk, SourceLook, StoreContent } from '../../copy/parts.ts';
import { movedNote, StoreError } from '../../errors.ts';
import { type GapRow, gapOf } from '../../gaps.ts';
import type { Definitions, DirectoryPosition, LabelerKey } from '../../roster.ts';
import { dayName } from '../../time.ts';
import {
  assertKnown,
  isAbsent,
  openReadonly,
  openWritable,
  type Sqlite,
  schemaVersion,
  storeError,
} from '../base/connection.ts';
import { type DayForm, dayPath, type StorePaths, storePaths, takeWriterLock, type WriterLock } from '../base/files.ts';
import { DayReader } from '../day/day-reader.ts';
import { assertStateBegun, assertStateFile } from '../read/lost-tail.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateQueries } from '../state/state.ts';
import { dayRows, readDayCounts } from './content.ts';

const cacheBytes = 4 * 1024 * 1024;
/**
 * Maximum number of attempts to open a day's file. The day may be sealed after its form was read from the state file.
 */
const looks = 5;

/**
 * Opens the store in a directory as the source of a copy. Throws `not_a_store` if the directory contains no store, or
 * a store of an earlier version that is not migrated.
 */
export function openSqliteSource(folder: string): CopySource {
  const paths = storePaths(folder);
  assertStateFile(paths);
  if (!existsSync(paths.state)) throw new StoreError('not_a_store', `${folder} contains no store`);
  const db = openReadonly(paths.state, cacheBytes);
  try {
    assertKnown(db, stateMigrations);
    if (schemaVersion(db) < stateMigrations.length) {
      throw new StoreError(
        'not_a_store',
        `an earlier version wrote the store in ${folder}: start almanac labels once to migrate it`,
      );
    }
    assertStateBegun(paths, stateQueries(db).hasEpoch());
    return new SqliteSource(paths, db);
  } catch (error) {
    db.close();
    throw storeError(error, folder);
  }
}

class SqliteSource implements CopySource {
  readonly #paths: StorePaths;
  readonly #db: Sqlite;
  readonly #state: ReturnType<typeof stateQueries>;
  /** Sealed days whose checksums were verified. */
  readonly #checked = new Set<number>();
  #lock: WriterLock | null = null;

  constructor(paths: StorePaths, db: Sqlite) {
    this.#paths = paths;
    this.#db = db;
    this.#state = stateQueries(db);
  }

  look(): Promise<SourceLook> {
    return this.#run(() => {
      const { days, floor, ...rest } = this.#db.transaction(() => {
        const changing = new Set(this.#state.purgeRows().map(({ atDay }) => atDay));
        const { days, floor } = this.#state.catalog();
        return {
          epoch: this.#state.epoch(),
          revision: this.#state.revision(),
          heartbeat: this.#state.heartbeat(),
          floor,
          days: days.map(({ day, revision }) => ({ day, revision, isChanging: changing.has(day) })),
        };
      })();
      const newest = days.at(-1);
      const ends = newest ? this.#onDay(newest.day, (reader) => reader.ends()) : { last: null, through: null };
      return { ...rest, ...ends, floor, days };
    });
  }

  rowsIn(day: number): Promise<number> {
    return this.#run(() => {
      try {
        const sql = 'SELECT coalesce(sum(applied + removed), 0) FROM counter_hour';
        return this.#onDay(day, (_, db) => db.prepare<[], number>(sql).pluck().get() ?? 0);
      } catch (error) {
        if (error instanceof StoreError && error.code === 'out_of_window') return 0;
        throw error;
      }
    });
  }

  async rows(day: number, after: number, each: EachChunk): Promise<void> {
    const form = this.#formOf(day);
    const reader = this.#open(day);
    try {
      this.#assertChecksums(reader);
      for (const rows of dayRows(reader.path, reader.form, reader.nameOf, after)) await each(rows);
    } catch (error) {
      // The file is missing because the day was sealed or dropped while the file was being opened.
      if (isAbsent(error) && this.#formOf(day) !== form) throw expired(day);
      throw storeError(error, this.#paths.folder);
    } finally {
      reader.close();
    }
  }

  counts(day: number) {
    return this.#run(() => this.#onDay(day, (reader, db) => db.transaction(() => readDayCounts(db, reader))()));
  }

  content(): Promise<StoreContent> {
    return this.#run(() => {
      const removal = this.#state.spaceRow();
      if (removal !== null && removal.completedAt === null) {
        const what = 'this version has not yet completed the removal of rows about spaces';
        throw new StoreError('not_a_store', `${what}: let almanac labels complete the removal, then copy again`);
      }
      const newest = this.#state.catalog().days.at(-1);
      const positions = newest
        ? this.#onDay(newest.day, (reader) => ({
            positions: reader.positions(),
            refusedRows: reader.refusedRows(),
          }))
        : { positions: [], refusedRows: [] };
      return { ...readState(this.#db), ...positions };
    });
  }

  freeze(): Promise<boolean> {
    return this.#run(() => {
      try {
        this.#lock ??= takeWriterLock(this.#paths.lock);
        return true;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'second_writer') return false;
        throw error;
      }
    });
  }

  retire(): Promise<void> {
    return this.#frozen((db) => {
      const put = 'INSERT INTO note(name, content) VALUES (?, ?) ON CONFLICT(name) DO NOTHING';
      db.prepare(put).run(movedNote, new Date().toISOString());
    });
  }

  reopen(): Promise<boolean> {
    return this.#frozen((db) => db.prepare('DELETE FROM note WHERE name = ?').run(movedNote).changes > 0);
  }

  close(): Promise<void> {
    return this.#run(() => {
      this.#db.close();
      this.#lock?.release();
      this.#lock = null;
    });
  }

  /** Changes the state file while this copy holds the writer's lock. */
  #frozen<T>(work: (db: Sqlite) => T): Promise<T> {
    return this.#run(() => {
      if (this.#lock === null) throw new StoreError('second_writer', 'the store is not frozen');
      const db = openWritable(this.#paths.state, cacheBytes);
      try {
        return work(db);
      } finally {
        db.close();
      }
    });
  }

  /** Runs synchronous work; rejects with store errors only. */
  async #run<T>(work: () => T): Promise<T> {
    try {
      return await Promise.resolve(work());
    } catch (error) {
      throw storeError(error, this.#paths.folder);
    }
  }

  /**
   * Throws `damaged` if a sealed day does not match its checksums. The rows of an open day are verified by their
   * identities instead.
   */
  #assertChecksums(reader: DayReader): void {
    if (reader.form === 'open' || this.#checked.has(reader.day)) return;
    for (const { problem } of reader.checksumProblems()) {
      const what = `${dayName(reader.day)} has problems: ${problem}`;
      throw new StoreError('damaged', `${what}; run almanac labels verify to list all of them`);
    }
    this.#checked.add(reader.day);
  }

  #onDay<T>(day: number, work: (reader: DayReader, db: Sqlite) => T): T {
    const reader = this.#open(day);
    const db = openReadonly(reader.path, cacheBytes);
    try {
      return work(reader, db);
    } finally {
      db.close();
      reader.close();
    }
  }

  #open(day: number): DayReader {
    for (let look = 1; ; look++) {
      const form = this.#formOf(day);
      try {
        return new DayReader(dayPath(this.#paths, day, form), day, form);
      } catch (error) {
        if (!isAbsent(error) || look === looks) throw error;
      }
    }
  }

  #formOf(day: number): DayForm {
    const found = this.#state.catalog().days.find((one) => one.day === day);
    if (!found) throw expired(day);
    return found.sealed === 1 ? 'sealed' : 'open';
  }
}

function expired(day: number): StoreError {
  return new StoreError('out_of_window', `${dayName(day)} has expired`);
}

/** Reads the content of the state file in one transaction. Omits the note that marks the store as retired. */
function readState(db: Sqlite) {
  const all = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).all();
  const raw = <Row>(sql: string): Row[] => db.prepare<[], Row>(sql).raw().all();
  const read = db.transaction(() => {
    return {
      gaps: all<GapRow>('SELECT source, started, ended, reason FROM gap').map(gapOf),
      roster: stateQueries(db).roster(),
      keys: all<LabelerKey>(
        'SELECT did, label_key AS key, first_seen AS firstSeen, last_seen AS lastSeen FROM label_key',
      ),
      definitions: all<Definitions>('SELECT did, seen_at AS seenAt, content FROM definitions ORDER BY id'),
      notes: raw<[string, string]>(`SELECT name, content FROM note WHERE name <> '${movedNote}'`),
      dailyBytes: raw<[string, number, number]>('SELECT source, day, bytes FROM daily_bytes'),
      directories: all<DirectoryPosition>('SELECT host, seq FROM directory_position'),
      purges: all<CopiedPurge>(
        `SELECT source, requested_at AS requestedAt, completed_at AS completedAt, removed, next_day AS nextDay
         FROM purge`,
      ),
    };
  });
  return read();
}
