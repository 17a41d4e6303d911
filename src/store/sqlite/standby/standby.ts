import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../label.ts';
import { duplicateHorizon, type StoreReader } from '../../port.ts';
import type { StoreProcess, StoreProcesses, StoreStandby, WriterEnd, WriterSighting } from '../../standby/standby.ts';
import { dayOf, dayStart, micros } from '../../time.ts';
import { openReadonly, type Sqlite, storeError } from '../base/connection.ts';
import {
  announce,
  isRunning,
  type Presence,
  readPresent,
  type StorePaths,
  storePaths,
  takeWriterLock,
  type WriterLock,
  writerLockHeld,
} from '../base/files.ts';
import { Days } from '../read/days.ts';
import { openSqliteReader } from '../read/reader.ts';
import { type Catalog, instrumentState, stateQueries } from '../state/state.ts';
import { openSqliteWriter, type SqliteWriterOptions } from '../write/writer.ts';

const cacheBytes = 1024 * 1024;

/** Options for a standby: the options of a writer, with a clock instead of the current time. */
export interface SqliteStandbyOptions extends Omit<SqliteWriterOptions, 'at' | 'known'> {
  readonly clock: () => SqliteWriterOptions['at'];
  /** Sends a signal to a process; absent for `process.kill`. Tests replace it. */
  readonly signal?: (pid: number, signal: 'SIGKILL') => void;
}

/**
 * Opens the store in a directory as the standby of its writer. Throws `not_a_store` if there is no store, and
 * `second_writer` if another standby exists.
 */
export function openSqliteStandby(options: SqliteStandbyOptions): StoreStandby {
  const { folder } = options;
  const paths = storePaths(folder);
  if (!existsSync(paths.state)) throw new StoreError('not_a_store', `${folder} contains no store`);
  const lock = takeStandbyLock(paths);
  const presence = announce(paths.standby, randomUUID());
  const release = (): void => {
    presence.end();
    lock.release();
  };
  try {
    const reading = new FollowedStore(paths);
    return standbyOf(options, paths, { reading, reader: openSqliteReader(folder), presence, release });
  } catch (error) {
    release();
    throw storeError(error, folder);
  }
}

/** Connections of a standby for data that the reader does not provide. */
class FollowedStore {
  readonly db: Sqlite;
  readonly days: Days;
  readonly stored: StoredIdentities;
  isOpen = true;

  constructor(paths: StorePaths) {
    this.db = openReadonly(paths.state, cacheBytes);
    const state = stateQueries(this.db);
    this.days = new Days(paths, state);
    this.stored = new StoredIdentities(state, this.days);
  }

  async query<T>(work: () => T | Promise<T>): Promise<T> {
    if (!this.isOpen) throw new StoreError('closed', 'the store was closed');
    try {
      return await work();
    } catch (error) {
      throw storeError(error, this.db.name);
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.days.close();
    this.db.close();
  }
}

interface Parts {
  readonly reading: FollowedStore;
  readonly reader: StoreReader;
  readonly presence: Presence;
  readonly release: () => void;
}

function standbyOf(options: SqliteStandbyOptions, paths: StorePaths, parts: Parts): StoreStandby {
  const { folder, clock, signal = process.kill.bind(process), ...writing } = options;
  const { reading, reader, presence, release } = parts;
  const { days, stored, db } = reading;
  return {
    ...reader,
    refusedRows: () => reading.query(() => days.newest()?.refusedRows() ?? []),
    dailyBytes: (day) => reading.query(() => instrumentState(db).dailyBytes(day)),
    directoryPosition: (host) => reading.query(() => instrumentState(db).directoryPosition(host)),
    follow: (report) => reading.query(() => stored.follow(report)),
    identityOf: (label) => identityOf(label).toString('latin1'),
    knows: (identity) => stored.has(identity),
    writer: async () => sightingOf(paths),
    endWriter: async () => endWriter(paths, signal),
    ready: async () => presence.become('ready'),
    async takeOver() {
      const writer = openSqliteWriter({ ...writing, folder, at: clock(), known: () => stored.known });
      // Open the writer before closing the readers: when the last connection to a database closes, SQLite discards
      // the index of the write-ahead log, which the writer would have to rebuild.
      reading.close();
      void reader.close();
      release();
      return writer;
    },
    close: async () => {
      reading.close();
      await reader.close();
      release();
    },
  };
}

function takeStandbyLock(paths: StorePaths): WriterLock {
  try {
    return takeWriterLock(paths.standbyLock);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'second_writer')) throw error;
    throw new StoreError('second_writer', 'this store already has a standby; a store can have only one', {
      cause: error,
    });
  }
}

function sightingOf(paths: StorePaths): WriterSighting {
  if (!writerLockHeld(paths.lock)) return { kind: 'none' };
  const present = readPresent(paths.writer);
  return { kind: 'writing', state: present?.state ?? 'ready', beat: present?.beat ?? null, isGone: false };
}

/** Kills the recorded writer, but only if the process with the recorded id is certainly the writer. */
function endWriter(paths: StorePaths, signal: (pid: number, signal: 'SIGKILL') => void): WriterEnd {
  const present = readPresent(paths.writer);
  if (present === null) return { kind: 'kept', why: 'writer.json does not identify the writer' };
  const { process: recorded } = present;
  if (recorded === null) return { kind: 'kept', why: 'the operating system of the writer does not identify processes' };
  if (!isRunning(recorded))
    return { kind: 'kept', why: `process ${recorded.pid} is not running or not visible to this process` };
  try {
    signal(recorded.pid, 'SIGKILL');
    return { kind: 'killed', pid: recorded.pid };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { kind: 'kept', why: `this process may not signal process ${recorded.pid} (${code})` };
  }
}

/** Returns the writer and the standby of the store in a directory. */
export function sqliteProcesses(folder: string): StoreProcesses {
  const paths = storePaths(folder);
  return {
    writer: writerLockHeld(paths.lock) ? processOf(paths.writer) : null,
    standby: writerLockHeld(paths.standbyLock) ? processOf(paths.standby) : null,
  };
}

function processOf(path: string): StoreProcess | null {
  const present = readPresent(path);
  if (present === null) return null;
  const { token, state, process: recorded, beat } = present;
  const pid = recorded !== null && isRunning(recorded) ? recorded.pid : null;
  return { token, state, pid, name: pid === null ? 'an unknown process' : `process ${pid}`, beat };
}

/** Maximum number of rows per read. A longer read would block the event loop and the writer's checkpoints. */
const chunkRows = 20_000;

/** Queries of the state file that `follow` needs. */
interface FollowedState {
  catalog(): Catalog;
  revision(): number;
}

/** Identities of the rows in a store that another process writes, kept up to date by `follow`. */
class StoredIdentities {
  readonly #state: FollowedState;
  readonly #days: Days;
  #identities = new IdentitySet(duplicateHorizon);
  #through = -1;
  #revision: number | null = null;

  constructor(state: FollowedState, days: Days) {
    this.#state = state;
    this.#days = days;
  }

  /**
   * Identities read so far, for the writer that replaces the followed writer. Null if they may include rows that were
   * purged since then.
   */
  get known(): KnownIdentities | null {
    if (this.#state.revision() !== this.#revision) return null;
    return { identities: this.#identities, through: this.#through };
  }

  has(identity: string): boolean {
    return this.#identities.has(Buffer.from(identity, 'latin1'));
  }

  /**
   * Reads the identities of new rows, or of all rows within the duplicate horizon if the revision has changed since the
   * last call, and calls `stored` for each.
   */
  async follow(stored: (identity: string) => void = () => undefined): Promise<void> {
    const revision = this.#state.revision();
    if (this.#revision !== revision) {
      this.#revision = revision;
      this.#identities = new IdentitySet(duplicateHorizon);
      this.#through = -1;
    }
    while (this.#readChunk(stored) >= chunkRows) await nextTurn();
  }

  /**
   * Reads the next rows of the oldest day with unread rows. Returns their number, or `chunkRows` if later days may
   * have unread rows.
   */
  #readChunk(stored: (identity: string) => void): number {
    const { days, floor } = this.#state.catalog();
    const newest = days.at(-1);
    if (newest === undefined) return 0;
    if (this.#through < 0) this.#through = Math.max(floor, dayStart(newest.day) - duplicateHorizon) - 1;
    for (const { day, sealed } of days) {
      if (sealed === 1 || day < dayOf(micros(Math.max(0, this.#through)))) continue;
      const interval = { start: micros(Math.max(floor, dayStart(day))), end: dayStart(day + 1) };
      const rows = this.#days.over(interval, ({ days: [reader] }) => {
        let count = 0;
        if (reader?.form !== 'open') return count;
        for (const [id, identity] of reader.identities(this.#through + 1)) {
          this.#identities.add(identity, id);
          this.#through = id;
          stored(identity.toString('latin1'));
          count += 1;
          if (count >= chunkRows) break;
        }
        return count;
      });
      if (rows > 0) return rows >= chunkRows ? rows : this.#hasLater(day, days) ? chunkRows : rows;
    }
    return 0;
  }

  #hasLater(day: number, days: Catalog['days']): boolean {
    return days.some((later) => later.day > day && later.sealed === 0);
  }
}
