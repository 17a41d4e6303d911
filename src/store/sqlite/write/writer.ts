import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import { makeFolder, OperatorError } from '../../../ops/errors.ts';
import { assertBounds, DayWork, firstStamp, pagesAt, refusalsOf, sortOut } from '../../common/batch.ts';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { discardIdentities, keepIdentities, takeIdentities } from '../../common/kept-identities.ts';
import { RemovalProgress } from '../../common/removal-progress.ts';
import { assertNotMoved, movedNote, StoreError } from '../../errors.ts';
import type { RefusedRows } from '../../label.ts';
import { type AppendResult, type Batch, duplicateHorizon, type StoreWriter } from '../../port.ts';
import { dayName, dayOf, dayStart, micros } from '../../time.ts';
import { type Faults, migrate, openWritable, type Sqlite, storeError, syncFolder } from '../base/connection.ts';
import {
  announce,
  beginWriting,
  type DayForm,
  dayPath,
  type Fence,
  type OnFile,
  type StorePaths,
  silent,
  storePaths,
  takeWriterLock,
} from '../base/files.ts';
import { DayReader } from '../day/day-reader.ts';
import { type Carried, type Commit, DayWriter, type DayWriterOptions } from '../day/day-writer.ts';
import { assertSound, assertStateBegun, assertStateFile } from '../read/lost-tail.ts';
import { openSqliteReader } from '../read/reader.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { noteQuery, type StateChanges, stateChanges } from '../state/state.ts';
import { maintainDays, recoverDays } from '../upkeep/maintenance.ts';
import { purgeNextDay } from '../upkeep/purge.ts';

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
  /**
   * Returns the identities that a standby has read, or null if rows were removed since. Called once no other process can
   * write any more. Absent if there was no standby.
   */
  readonly known?: () => KnownIdentities | null;
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
    const hasLost = recoverDays(paths, state, onFile);
    const reader = openSqliteReader(folder);
    const { assertWriter } = fence;
    // A standby has read the identities already. Remove their file nevertheless, as each serves one start.
    const known = hasLost ? null : (options.known?.() ?? null);
    if (known !== null) discardIdentities(paths.identities);
    const acceptance = new Acceptance({
      ...{ paths, state, maxLogBytes, durable, faults, assertWriter },
      known: known ?? takeIdentities(paths.identities, stateName(state)),
    });
    presence.become('ready');
    const forget = (identities: readonly Buffer[]): void => acceptance.forget(identities);
    const refused = new Set<number>();
    const progress = new RemovalProgress();
    return writerOf(
      { folder, reader, acceptance, state, fence },
      {
        purge: (now, signal) =>
          purgeNextDay({ paths, state, maxLogBytes, durable, faults, forget, progress, onFile, signal }, now),
        maintain: (now, last, signal) =>
          maintainDays({ paths, state, windowDays, faults, onFile, signal, refused }, now, last),
        keep: async () => keepIdentities(paths.identities, acceptance.known, stateName(state)),
        release,
      },
    );
  } catch (error) {
    release();
    throw storeError(error, folder);
  }
}

/**
 * Returns the state of the store for `keepIdentities`. A new store has another generation, and a purge changes the
 * revision. A restored store may have the same state with fewer rows: `Acceptance` then compares the last row.
 */
function stateName(state: StateChanges): string {
  return `${state.epoch().generationId} ${state.revision()}`;
}

function hasEpoch(db: Sqlite): boolean {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'epoch'").get();
  return table !== undefined && db.prepare('SELECT 1 FROM epoch').get() !== undefined;
}

interface Ends {
  maintain(at: Micros, last: Micros | null, signal: AbortSignal): ReturnType<StoreWriter['maintain']>;
  purge(at: Micros, signal: AbortSignal): ReturnType<StoreWriter['purge']>;
  /** Writes the identities for the next writer. */
  keep(): Promise<void>;
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
    // The set no longer changes. A standby need not wait for the file: its content stays true after later commits.
    const kept = ends.keep().catch(() => undefined);
    ends.release();
    await kept;
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
    requestPurge: (request) => stateChange(() => state.requestPurge.immediate({ ...request, last: acceptance.last })),
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
  } satisfies Partial<StoreWriter>;
}

/** State and options for accepting batches. */
interface AcceptanceOptions extends DayWriterOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Identities that a standby or the last writer has already read; null if there are none. */
  readonly known: KnownIdentities | null;
}

/** Accepts batches: detects duplicates, assigns stamps, and commits each batch to the day of its stamps. */
class Acceptance {
  readonly #options: AcceptanceOptions;
  readonly #known: IdentitySet;
  #writer: DayWriter | null = null;
  #last: Micros | null = null;
  /**
   * Reader that keeps the newest day open until the day writer opens it. A killed writer may leave a commit in the
   * log that becomes visible only when SQLite recovers the log, which happens when the first connection opens. The
   * recovery must happen before the identities are read.
   */
  #held: DayReader | null = null;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    const newest = options.state.catalog().days.at(-1);
    if (newest?.sealed === 0)
      this.#held = new DayReader(dayPath(options.paths, newest.day, 'open'), newest.day, 'open');
    try {
      this.#last = this.#newest((reader) => reader.ends().last) ?? null;
      // Identities beyond the last row belong to rows that were lost.
      const known = (options.known?.through ?? 0) <= (this.#last ?? -1) ? options.known : null;
      this.#known = known?.identities ?? new IdentitySet(duplicateHorizon);
      this.#rememberIdentities(known?.through ?? -1);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Identities of the rows of the last two days, for the next writer. */
  get known(): KnownIdentities {
    return { identities: this.#known, through: this.#last ?? -1 };
  }

  /** Last assigned stamp, or null before the first stamp. */
  get last(): Micros | null {
    return this.#last;
  }

  append(batch: Batch): AppendResult {
    const bytes = assertBounds(batch);
    const { fresh, duplicates } = sortOut(batch, this.#known);
    const first = firstStamp(batch.at, this.#last, fresh.length);
    const rows = fresh.map(({ observation, identity }, i) => ({ observation, identity, at: first + i }));
    const commit: Commit = {
      rows,
      refusals: refusalsOf(batch, duplicates),
      positions: batch.positions,
      refusedRows: batch.refusedRows ?? [],
      at: batch.at,
      through: pagesAt(batch),
      stamp: first,
      bytes,
    };
    this.#writerOf(dayOf(first)).commit(commit);
    // Add the identities only after the commit, so that a failed batch leaves no identities in memory.
    for (const { identity, at } of rows) this.#known.add(identity, at);
    const last = rows.at(-1)?.at;
    if (last !== undefined) this.#last = micros(last);
    this.#options.faults?.('append.committed');
    return {
      accepted: rows.length,
      duplicates,
      first: rows.length > 0 ? first : null,
      last: last === undefined ? null : micros(last),
    };
  }

  /** Returns the refused rows as of the last commit. */
  refusedRows(): RefusedRows[] {
    return this.#newest((reader) => reader.refusedRows()) ?? [];
  }

  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  forget(identities: readonly Buffer[]): void {
    for (const identity of identities) this.#known.delete(identity);
  }

  limitPages(pages: number): void {
    this.#writer?.limitPages(pages);
  }

  close(): void {
    this.#writer?.close();
    this.#writer = null;
    this.#held?.close();
    this.#held = null;
  }

  #writerOf(day: number): DayWriter {
    if (this.#writer?.day === day) return this.#writer;
    const { paths, state, durable, faults } = this.#options;
    const newest = state.catalog().days.at(-1);
    if (newest && (day < newest.day || (day === newest.day && newest.sealed === 1))) {
      throw new StoreError(
        'clock_behind',
        `the clock is at ${dayName(day)}, a day that no longer accepts rows: check the clock`,
      );
    }
    const generation = state.epoch().generationId;
    const carried: Carried = this.#newest((reader) => ({
      positions: reader.positions(),
      refusedRows: reader.refusedRows(),
      last: reader.ends().last,
      through: reader.ends().through,
      generation,
    })) ?? { positions: [], refusedRows: [], last: null, through: null, generation };
    const writer = new DayWriter(dayPath(paths, day, 'open'), day, carried, dayTime(day), this.#options);
    this.close();
    if (durable) syncFolder(paths.days);
    faults?.('rollover.created');
    // List the day before its first row is committed, so that no reader misses the day.
    state.addDay(day, false);
    this.#writer = writer;
    return writer;
  }

  #newest<T>(work: (reader: DayReader) => T): T | undefined {
    const newest = this.#options.state.catalog().days.at(-1);
    return newest && this.#read(newest.day, newest.sealed === 1 ? 'sealed' : 'open', work);
  }

  #read<T>(day: number, form: DayForm, work: (reader: DayReader) => T): T {
    const reader = new DayReader(dayPath(this.#options.paths, day, form), day, form);
    try {
      return work(reader);
    } finally {
      reader.close();
    }
  }

  /** Adds the identities of the rows after the stamp `through`. */
  #rememberIdentities(through: number): void {
    if (this.#last === null) return;
    const since = Math.max(this.#last - duplicateHorizon, through + 1);
    for (const { day, sealed } of this.#options.state.catalog().days) {
      if (sealed === 1 || dayStart(day + 1) <= since) continue;
      this.#read(day, 'open', (reader) => {
        for (const [id, identity] of reader.identities(since)) this.#known.add(identity, id);
      });
    }
  }
}

function dayTime(day: number): string {
  return new Date(dayStart(day) / 1000).toISOString();
}
