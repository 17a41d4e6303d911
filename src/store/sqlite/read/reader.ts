import { existsSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { compareGaps, everySource, type GapRow } from '../../gaps.ts';
import type { DayReport, StoredGap, StoreReader } from '../../port.ts';
import { day, dayName, dayStart, type Interval, micros } from '../../time.ts';
import { assertKnown, openReadonly, type Sqlite, schemaVersion, storeError } from '../base/connection.ts';
import { type StorePaths, storePaths } from '../base/files.ts';
import { subjectDid } from '../base/row.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { type Catalog, stateQueries } from '../state/state.ts';
import { AccountTallies } from './account-tally.ts';
import { accountIntervals, assertInterval, Counts, Days, readAccount } from './days.ts';
import { LabelerTotals } from './labeler-totals.ts';
import { assertNoLostTail, assertOneGeneration, assertStateBegun, assertStateFile } from './lost-tail.ts';
import { unreadableDay, verifyDay } from './verify.ts';

const cacheBytes = 1024 * 1024;

/**
 * Opens the store in a directory for reading, whether or not a writer is running. Throws `not_a_store` if the directory
 * contains no store, `schema_newer` for a store of a newer version, and `damaged` if files are lost or inconsistent.
 * Reads reject with `not_a_store` once the store was moved aside or replaced; it must then be opened again.
 */
export function openSqliteReader(folder: string): StoreReader {
  const paths = storePaths(folder);
  assertStateFile(paths);
  if (!existsSync(paths.state)) throw new StoreError('not_a_store', `${folder} contains no store`);
  const opened = fileIdentity(paths.state);
  const db = openState(paths);
  try {
    assertKnown(db, stateMigrations);
    if (schemaVersion(db) === 0) assertStateBegun(paths, false);
    if (schemaVersion(db) === 0) throw new StoreError('not_a_store', `the store in ${folder} was never initialized`);
    const state = stateQueries(db);
    const days = new Days(paths, state);
    assertStateBegun(paths, state.hasEpoch());
    assertOneGeneration(paths, state.generation());
    assertNoLostTail(paths, state.catalog().days, state);
    const scan = new GapScan(() => openState(paths));
    const isCurrent = (): boolean => fileIdentity(paths.state) === opened;
    return readerOf(folder, { state, scan, isCurrent }, days, new Counts(days), () => {
      scan.close();
      days.close();
      db.close();
    });
  } catch (error) {
    db.close();
    throw storeError(error, paths.state);
  }
}

/**
 * Returns the device and inode of a file, or null if it does not exist. A rename keeps both. While a descriptor is open,
 * no other file gets the same inode.
 */
function fileIdentity(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

function openState(paths: StorePaths): Sqlite {
  try {
    return openReadonly(paths.state, cacheBytes);
  } catch (error) {
    // A file without the application id is empty, or its write-ahead log was lost.
    if (error instanceof StoreError && error.code === 'pragma_refused') assertStateBegun(paths, false);
    throw error;
  }
}

type StateQueries = ReturnType<typeof stateQueries>;
/** Runs a query and rejects with store errors only. */
type Query = <T>(work: () => T) => Promise<Awaited<T>>;

/** Access to the state file. */
interface StateFile {
  readonly state: StateQueries;
  readonly scan: GapScan;
  /** Returns false if the opened state file was moved aside or replaced. */
  readonly isCurrent: () => boolean;
}

function readerOf(
  folder: string,
  { state, scan, isCurrent }: StateFile,
  days: Days,
  counts: Counts,
  release: () => void,
): StoreReader {
  let closed = false;

  /** Runs a query. Rejects after `close`, converts all errors to store errors, and never throws synchronously. */
  function query<T>(work: () => T): Promise<Awaited<T>> {
    return new Promise<T>((resolve) => {
      if (closed) throw new StoreError('closed', `the store in ${folder} was closed`);
      // The open files outlive a new epoch or a restore, but must then no longer be read as the store.
      if (!isCurrent()) throw new StoreError('not_a_store', `the store in ${folder} was moved aside or replaced`);
      resolve(work());
    }).catch((error: unknown) => {
      throw storeError(error, folder);
    }) as Promise<Awaited<T>>;
  }

  return {
    ...stateReads(query, { state, scan }),
    ...dayReads(query, state, days, counts),
    ...accountReads(query, days),
    close: () => {
      if (!closed) release();
      closed = true;
      return Promise.resolve();
    },
  };
}

/** Creates the methods that read the state file. */
function stateReads(query: Query, { state, scan }: Pick<StateFile, 'state' | 'scan'>) {
  return {
    epoch: () => query(() => state.epoch()),
    gaps: ({ source, ...interval }) =>
      query(() => {
        assertInterval(interval);
        return source === undefined ? scan.over(interval) : state.gaps(interval, source);
      }),
    coverage: ({ labelers, ...interval }) =>
      query(() => {
        assertInterval(interval);
        return state.coverage(interval, labelers);
      }),
    purges: () => query(() => state.purges()),
    spaceRemoval: () => query(() => state.spaceRemoval()),
    heartbeat: () => query(() => state.heartbeat()),
    roster: () => query(() => state.roster()),
    keys: (did) => query(() => state.keys(did)),
    definitions: (did) => query(() => state.definitions(did)),
    note: (name) => query(() => state.note(name)),
  } satisfies Partial<StoreReader>;
}

/** Creates the methods that read whole days. */
function dayReads(query: Query, state: StateQueries, days: Days, counts: Counts) {
  const labelers = new LabelerTotals(days);
  return {
    frontier: () =>
      query(() => {
        const { generationId } = state.epoch();
        const floor = state.floor();
        const { last, through } = days.newest()?.ends() ?? { last: null, through: null };
        const end = micros(Math.max(floor, (last ?? -1) + 1));
        return { generationId, floor, end, observedThrough: through, revision: state.revision() };
      }),
    countsByLabeler: (interval) => query(() => counts.byLabeler(interval)),
    countsOverTime: (asked) => query(() => counts.overTime(asked)),
    labelersActive: (interval) => query(() => counts.byLabeler(interval).length),
    refusals: (interval) => query(() => counts.refusals(interval)),
    labelerCounters: async (interval) => {
      const step = await query(() => {
        const reading = labelers.over(interval);
        return { reading, result: reading() };
      });
      let { result } = step;
      while (result === null) {
        await nextTurn();
        result = await query(step.reading);
      }
      return result;
    },
    positions: () => query(() => days.newest()?.positions() ?? []),
    async *verify() {
      const { generationId } = await query(() => state.epoch());
      for (const listed of await query(() => days.all())) {
        const report = await query(() => reportOf(listed, generationId, state, days));
        if (report) yield report;
      }
    },
  } satisfies Partial<StoreReader>;
}

/**
 * Verifies one day. Returns null if the day has expired before or during the check, because missing rows are then
 * expected. Reports a file that is missing, damaged or unreadable as a problem of the day. Throws only errors that a
 * retry may resolve, and errors of the state file.
 */
function reportOf(
  { day, sealed }: Catalog['days'][number],
  generationId: string,
  state: StateQueries,
  days: Days,
): DayReport | null {
  const end = dayStart(day + 1);
  for (;;) {
    const floor = state.floor();
    if (end <= floor) return null;
    try {
      return days.over({ start: micros(Math.max(dayStart(day), floor)), end }, ({ days: [reader] }) => {
        if (!reader) throw new StoreError('damaged', `the file of ${dayName(day)} does not exist`);
        return verifyDay(reader, generationId).report;
      });
    } catch (error) {
      if (!(error instanceof StoreError) || error.retry) throw error;
      // After `out_of_window`, check again whether the day has expired, because the floor has risen.
      if (error.code !== 'out_of_window') return unreadableDay(day, sealed === 1, error);
    }
  }
}

/** Creates the methods that read an account's rows and counts. */
function accountReads(query: Query, days: Days) {
  const tallies = new AccountTallies(days);
  return {
    readAccount: (asked) => query(() => readAccount(days, asked)),
    accountIntervals: (asked) => query(() => accountIntervals(days, asked)),
    tallyAccount: (asked) =>
      query(() => {
        assertInterval(asked);
        return tallies.of(asked);
      }),
    busyAccounts: (limit) => query(() => days.newestSealed()?.hotCounts.subjects(limit).map(subjectDid) ?? []),
  } satisfies Partial<StoreReader>;
}

/** Number of gaps that are read per turn of the event loop. */
const rowsPerTurn = 500;

type Key = readonly [source: string, started: number, ended: number, reason: string];

/** A gap whose end may be extended while the other gaps of its source are read. */
type OpenGap = { -readonly [Name in keyof StoredGap]: StoredGap[Name] };

/**
 * Reads the gaps of all sources over several turns of the event loop. A read transaction on a separate connection
 * preserves the state at the time of the call, while other queries continue.
 */
export class GapScan {
  readonly #open: () => Sqlite;
  /** Connection without a transaction that the next scan can use, or null if there is none. */
  #idle: Sqlite | null = null;
  #isClosed = false;

  /** `open` opens a read-only connection to the state file. */
  constructor(open: () => Sqlite) {
    this.#open = open;
  }

  /**
   * Returns the gaps in an interval as of the time of the call, clipped to the interval and sorted by start.
   * Overlapping and touching gaps of one source and reason are merged.
   */
  async over(interval: Interval): Promise<StoredGap[]> {
    const db = this.#idle ?? this.#open();
    this.#idle = null;
    try {
      // The first query, which runs in the turn of the call, fixes the snapshot for all queries of the transaction.
      db.exec('BEGIN');
      const gaps = new GapsByDay(interval);
      const next = db.prepare<[...Key, number, number], GapRow>(
        `SELECT * FROM gap WHERE (source, started, ended, reason) > (?, ?, ?, ?) AND +ended > ? AND started < ?
         ORDER BY source, started, ended, reason LIMIT ${rowsPerTurn}`,
      );
      let rows = next.all('', Number.MIN_SAFE_INTEGER, 0, '', interval.start, interval.end);
      for (;;) {
        for (const row of rows) gaps.add(row);
        const last = rows.at(-1);
        if (last === undefined || rows.length < rowsPerTurn) break;
        await this.#nextTurn();
        const { source, started, ended, reason } = last;
        rows = next.all(source, started, ended, reason, interval.start, interval.end);
      }
      db.exec('COMMIT');
      const sorted: StoredGap[] = [];
      for (const part of gaps.parts()) {
        sorted.push(...part);
        if (sorted.length > rowsPerTurn) await this.#nextTurn();
      }
      return sorted;
    } finally {
      this.#release(db);
    }
  }

  /** Closes the idle connection. A scan in progress rejects with `closed`. */
  close(): void {
    this.#isClosed = true;
    this.#idle?.close();
    this.#idle = null;
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    if (this.#isClosed) throw new StoreError('closed', 'the store was closed while gaps were read');
  }

  #release(db: Sqlite): void {
    if (this.#isClosed || this.#idle !== null || db.inTransaction) db.close();
    else this.#idle = db;
  }
}

/** Collects gaps by the day on which they start, so that each day is sorted in a separate turn of the event loop. */
class GapsByDay {
  readonly #interval: Interval;
  readonly #days = new Map<number, OpenGap[]>();
  #source: string | null = null;
  /** Last gap of the current source, by reason. */
  readonly #last = new Map<GapReason, OpenGap>();

  constructor(interval: Interval) {
    this.#interval = interval;
  }

  /** Adds a gap. All gaps of a source must be added consecutively, in order of their starts. */
  add({ source, started, ended, reason }: GapRow): void {
    if (source !== this.#source) this.#last.clear();
    this.#source = source;
    const start: Micros = micros(Math.max(started, this.#interval.start));
    const end: Micros = micros(Math.min(ended, this.#interval.end));
    const last = this.#last.get(reason);
    if (last && start <= last.end) {
      last.end = micros(Math.max(last.end, end));
      return;
    }
    const gap: OpenGap = { source: source === everySource ? null : source, start, end, reason };
    this.#last.set(reason, gap);
    const at = Math.floor(start / day);
    const own = this.#days.get(at);
    if (own) own.push(gap);
    else this.#days.set(at, [gap]);
  }

  /** Yields the sorted gaps of each day, oldest day first. */
  *parts(): Generator<readonly StoredGap[]> {
    for (const [, gaps] of [...this.#days].sort(([a], [b]) => a - b)) yield gaps.sort(compareGaps);
  }
}
