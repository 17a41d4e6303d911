import { existsSync } from 'node:fs';
import { StoreError } from '../errors.ts';
import type { StoreReader } from '../port.ts';
import { dayName, dayStart, micros } from '../time.ts';
import { accountIntervals, assertInterval, readAccount } from './account-read.ts';
import { AccountTallies } from './account-tally.ts';
import { openReadonly, type Sqlite, storeError } from './connection.ts';
import { Counts } from './counts.ts';
import { Days } from './days.ts';
import { type StorePaths, storePaths } from './files.ts';
import { assertOneGeneration, assertStateBegun, assertStateFile } from './lost-state.ts';
import { assertNoLostTail } from './lost-tail.ts';
import { assertKnown, schemaVersion } from './migrate.ts';
import { subjectDid } from './row.ts';
import { stateQueries } from './state-read.ts';
import { stateMigrations } from './state-schema.ts';
import { verifyDay } from './verify.ts';

const cacheBytes = 1024 * 1024;

/**
 * Opens a store in a folder for reading, while another process writes it or none does.
 * `not_a_store` when there is none.
 */
export function openSqliteReader(folder: string): StoreReader {
  const paths = storePaths(folder);
  assertStateFile(paths);
  if (!existsSync(paths.state)) throw new StoreError('not_a_store', `${folder} contains no store`);
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
    return readerOf(folder, state, days, new Counts(days), () => {
      days.close();
      db.close();
    });
  } catch (error) {
    db.close();
    throw storeError(error, paths.state);
  }
}

function openState(paths: StorePaths): Sqlite {
  try {
    return openReadonly(paths.state, cacheBytes);
  } catch (error) {
    // Without our mark nothing was ever written into it, or its log was lost.
    if (error instanceof StoreError && error.code === 'pragma_refused') assertStateBegun(paths, false);
    throw error;
  }
}

function readerOf(
  folder: string,
  state: ReturnType<typeof stateQueries>,
  days: Days,
  counts: Counts,
  release: () => void,
): StoreReader {
  const tallies = new AccountTallies(days);
  let closed = false;

  /** Every query: refused after closing, its errors the port's, a rejection and never a throw. */
  function query<T>(work: () => T): Promise<Awaited<T>> {
    return new Promise<T>((resolve) => {
      if (closed) throw new StoreError('closed', `the store in ${folder} was closed`);
      resolve(work());
    }).catch((error: unknown) => {
      throw storeError(error, folder);
    }) as Promise<Awaited<T>>;
  }

  return {
    epoch: () => query(() => state.epoch()),
    frontier: () =>
      query(() => {
        const { generationId } = state.epoch();
        const floor = state.floor();
        const { last, through } = days.newest()?.ends() ?? { last: null, through: null };
        const end = micros(Math.max(floor, (last ?? -1) + 1));
        return { generationId, floor, end, observedThrough: through, revision: state.revision() };
      }),
    readAccount: (asked) => query(() => readAccount(days, asked)),
    accountIntervals: (asked) => query(() => accountIntervals(days, asked)),
    tallyAccount: (asked) => query(() => tallies.of(asked)),
    busyAccounts: (limit) => query(() => days.newestSealed()?.busySubjects(limit).map(subjectDid) ?? []),
    countsByLabeler: (interval) => query(() => counts.byLabeler(interval)),
    countsOverTime: (asked) => query(() => counts.overTime(asked)),
    labelersActive: (interval) => query(() => counts.byLabeler(interval).length),
    refusals: (interval) => query(() => counts.refusals(interval)),
    positions: () => query(() => days.newest()?.positions() ?? []),
    gaps: ({ source, ...interval }) =>
      query(() => {
        assertInterval(interval);
        return state.gaps(interval, source);
      }),
    coverage: ({ labelers, ...interval }) =>
      query(() => {
        assertInterval(interval);
        return state.coverage(interval, labelers);
      }),
    purges: () => query(() => state.purges()),
    heartbeat: () => query(() => state.heartbeat()),
    roster: () => query(() => state.roster()),
    keys: (did) => query(() => state.keys(did)),
    definitions: (did) => query(() => state.definitions(did)),
    note: (name) => query(() => state.note(name)),
    async *verify() {
      const { generationId } = await query(() => state.epoch());
      for (const { day } of await query(() => days.all())) {
        const report = await query(() => {
          const end = dayStart(day + 1);
          const floor = state.floor();
          // A day that was dropped meanwhile is out of the window, not damaged.
          if (end <= floor) return null;
          return days.over({ start: micros(Math.max(dayStart(day), floor)), end }, ({ days: [reader] }) => {
            if (!reader) throw new StoreError('damaged', `the file of ${dayName(day)} does not exist`);
            return verifyDay(reader, generationId);
          });
        });
        if (report) yield report;
      }
    },
    close: () => {
      if (!closed) release();
      closed = true;
      return Promise.resolve();
    },
  };
}
