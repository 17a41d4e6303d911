import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import { makeFolder, OperatorError } from '../../../ops/errors.ts';
import { DayWork } from '../../common/batch.ts';
import type { KnownIdentities } from '../../common/identity-set.ts';
import { assertNotMoved, movedNote, StoreError } from '../../errors.ts';
import type { StoreWriter } from '../../port.ts';
import { type Faults, migrate, openWritable, type Sqlite, storeError, syncFolder } from '../base/connection.ts';
import { announce, type OnFile, silent, storePaths, takeWriterLock } from '../base/files.ts';
import { assertSound, assertStateBegun, assertStateFile } from '../read/lost-tail.ts';
import { openSqliteReader } from '../read/reader.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { noteQuery, type StateChanges, stateChanges } from '../state/state.ts';
import { maintainDays, recoverDays } from '../upkeep/maintenance.ts';
import { purgeNextDay } from '../upkeep/purge.ts';
import { Acceptance } from './acceptance.ts';

const cacheBytes = 4 * 1024 * 1024;

/** Options for opening a store for writing. */
export interface SqliteWriterOptions {
  readonly folder: string;
  /** Current time of the acceptance clock, in microseconds; the start of the epoch if the store is new. */
  readonly at: Micros;
  /** Number of whole days that can be queried; one more day is retained on disk. */
  readonly windowDays?: number;
  /** Generates the random id of a new store's generation; absent for a UUID. */
  readonly generationId?: () => string;
  /** Maximum size of a day's write-ahead log, in bytes. */
  readonly maxLogBytes?: number;
  /** False for a store that can be regenerated: commits then do not wait for the disk. Absent means true. */
  readonly durable?: boolean;
  /** Called for each file event; see `FileEvent`. */
  readonly onFile?: OnFile;
  /** Identities that a standby has already read; absent if there was no standby. */
  readonly known?: KnownIdentities;
  /** Hook for fault points; only tests pass it. */
  readonly faults?: Faults;
}

/**
 * Default maximum size of a day's write-ahead log: 96 MiB. The largest batch may write 61 MiB and must not be delayed
 * by a short read.
 */
export const defaultMaxLogBytes = 96 * 1024 * 1024;
const defaultWindowDays = 30;

/** A SQLite writer with an additional method that lets tests simulate a full disk. */
export interface SqliteWriter extends StoreWriter {
  /** Limits the number of pages of the current day's file. Only for tests. */
  limitPages(pages: number): void;
}

/**
 * Opens the store in a directory for writing. Creates a missing store, migrates a store of an earlier version, and
 * recovers the files after a crash. Throws `second_writer` while another process is writing to the store, `moved` if a
 * copy has replaced the store, and `damaged` if files are lost or inconsistent.
 */
export function openSqliteWriter(options: SqliteWriterOptions): SqliteWriter {
  const { folder, at, faults, windowDays = defaultWindowDays, maxLogBytes = defaultMaxLogBytes } = options;
  const { durable = true, onFile = silent } = options;
  const paths = storePaths(folder);
  assertStateFile(paths);
  try {
    makeFolder(paths.days);
  } catch (error) {
    throw error instanceof OperatorError ? new StoreError('not_a_store', error.message, { cause: error }) : error;
  }
  const lock = takeWriterLock(paths.lock);
  const token = randomUUID();
  const presence = announce(paths.writer, token);
  let db: Sqlite | undefined;
  const release = (): void => {
    db?.close();
    presence.end();
    lock.release();
  };
  try {
    db = openWritable(paths.state, cacheBytes, durable);
    assertStateBegun(paths, hasEpoch(db));
    assertSound(db);
    const appliedAt = new Date(at / 1000).toISOString();
    migrate(db, stateMigrations, appliedAt, faults);
    assertNotMoved(noteQuery(db)(movedNote));
    const state = stateChanges(db);
    const generationId = options.generationId ?? randomUUID;
    const fence = beginWriting(db, { generationId, at, token, rolledBack: state.forgetSizes });
    syncFolder(folder);
    recoverDays(paths, state, onFile);
    const reader = openSqliteReader(folder);
    const { assertWriter } = fence;
    const acceptance = new Acceptance({
      ...{ paths, state, maxLogBytes, durable, faults, assertWriter },
      known: options.known,
    });
    presence.become('ready');
    const forget = (identities: readonly Buffer[]): void => acceptance.forget(identities);
    const refused = new Set<number>();
    const spaceDays = { done: new Set<number>(), left: new Set<number>() };
    return writerOf(
      { folder, reader, acceptance, state, fence },
      {
        purge: (now, signal) =>
          purgeNextDay({ paths, state, maxLogBytes, durable, faults, forget, spaceDays, onFile, signal }, now),
        maintain: (now, last, signal) =>
          maintainDays({ paths, state, windowDays, faults, onFile, signal, refused }, now, last),
        release,
      },
    );
  } catch (error) {
    release();
    throw storeError(error, folder);
  }
}

function hasEpoch(db: Sqlite): boolean {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'epoch'").get();
  return table !== undefined && db.prepare('SELECT 1 FROM epoch').get() !== undefined;
}

interface Ends {
  maintain(at: Micros, last: Micros | null, signal: AbortSignal): ReturnType<StoreWriter['maintain']>;
  purge(at: Micros, signal: AbortSignal): ReturnType<StoreWriter['purge']>;
  release(): void;
}

interface Parts {
  readonly folder: string;
  readonly reader: ReturnType<typeof openSqliteReader>;
  readonly acceptance: Acceptance;
  readonly state: StateChanges;
  readonly fence: Fence;
}

function writerOf({ folder, reader, acceptance, state, fence }: Parts, ends: Ends): SqliteWriter {
  const stopping = new AbortController();
  const dayWork = new DayWork();
  let closing: Promise<void> | null = null;

  /** Runs a change. Rejects after `close`, converts all errors to store errors, and never throws synchronously. */
  async function change<T>(work: () => T): Promise<Awaited<T>> {
    if (closing) throw new StoreError('closed', 'the store was closed');
    try {
      return await work();
    } catch (error) {
      throw storeError(error, folder);
    }
  }

  async function close(): Promise<void> {
    stopping.abort();
    // A seal or purge that is interrupted here is repeated after the next open.
    await dayWork.ended();
    await reader.close();
    acceptance.close();
    ends.release();
  }

  const afterCheck = <T>(work: () => T): T => {
    fence.assertWriter();
    return work();
  };
  const upkeep = dayWork.joined((at: Micros) => ends.maintain(at, acceptance.last, stopping.signal));
  const purging = dayWork.joined((at: Micros) => ends.purge(at, stopping.signal));
  /** Runs a change to the state file in a transaction that first checks the token. */
  const stateChange: typeof change = (work) => change(() => fence.run(work));
  return {
    ...reader,
    ...stateChangesOf(stateChange, state),
    assertWriter: () => change(() => fence.assertWriter()),
    append: (batch) => change(() => acceptance.append(batch)),
    refusedRows: () => change(() => acceptance.refusedRows()),
    maintain: (at) => change(() => afterCheck(() => upkeep(at))),
    purge: (at) => change(() => afterCheck(() => purging(at))),
    limitPages: (pages) => acceptance.limitPages(pages),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Creates the methods of the port that change the state file. Each transaction takes the write lock before it reads.
 */
function stateChangesOf(change: <T>(work: () => T) => Promise<Awaited<T>>, state: StateChanges) {
  return {
    recordGap: (gap) => change(() => state.recordGap.immediate(gap)),
    withdrawGap: (gap) => change(() => state.withdrawGap.immediate(gap)),
    changeGaps: (changes) => change(() => state.changeGaps.immediate(changes)),
    beat: (at) => change(() => state.beat(at)),
    dropRoster: (dids) => change(() => state.dropRoster(dids)),
    putRoster: (rows) => change(() => state.putRoster(rows)),
    putKeys: (keys) => change(() => state.putKeys.immediate(keys)),
    putDefinitions: (revisions, shares) => change(() => state.putDefinitions.immediate(revisions, shares)),
    dailyBytes: (day) => change(() => state.dailyBytes(day)),
    putDailyBytes: (bytes) => change(() => state.putDailyBytes.immediate(bytes)),
    directoryPosition: (host) => change(() => state.directoryPosition(host)),
    putDirectoryPosition: (position) => change(() => state.putDirectoryPosition.immediate(position)),
    putNote: (name, text) => change(() => state.putNote(name, text)),
    endReads: (revision) => change(() => state.endReads(revision)),
    requestPurge: (request) => change(() => state.requestPurge.immediate(request)),
  } satisfies Partial<StoreWriter>;
}

/**
 * Checks that no other process has become the writer. Each process that opens the store for writing sets a token in the
 * state file.
 */
interface Fence {
  /** Throws `fenced` if another process has set a token since this writer set its token. */
  assertWriter(): void;
  /** Checks the token, then runs a change to the state file, in one transaction. */
  run<T>(work: () => T): T;
}

interface FenceOptions {
  /** Generates the random id of a new store's generation. */
  readonly generationId: () => string;
  /** Current time of the acceptance clock: the start of the epoch if the store is new. */
  readonly at: Micros;
  /** Token that this writer sets. */
  readonly token: string;
  /** Called after a change was rolled back, which includes a change whose commit failed. */
  readonly rolledBack: () => void;
}

/** Starts the epoch of a new store, and sets this writer's token. */
export function beginWriting(db: Sqlite, { generationId, at, token, rolledBack }: FenceOptions): Fence {
  db.prepare('INSERT INTO epoch(one, generation, started_at, floor) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING').run(
    generationId(),
    at,
    at,
  );
  // Record the process id for error messages and for a person who inspects the file.
  const writer = `${token} pid ${process.pid}`;
  db.prepare('UPDATE epoch SET writer = ?').run(writer);
  const current = db.prepare<[], string>('SELECT writer FROM epoch').pluck();
  const assertWriter = (): void => {
    const now = current.get();
    if (now === writer) return;
    const other = now?.split(' ').slice(1).join(' ') ?? 'process id unknown';
    throw new StoreError('fenced', `another process (${other}) became the writer of this store; this process stops`);
  };
  // A transaction of `work` becomes a savepoint of this transaction.
  const transaction = db.transaction((work: () => unknown): unknown => {
    assertWriter();
    return work();
  });
  function run<T>(work: () => T): T {
    try {
      return transaction.immediate(work) as T;
    } catch (error) {
      rolledBack();
      throw error;
    }
  }
  return { assertWriter, run };
}
