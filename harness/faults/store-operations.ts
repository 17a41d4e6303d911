import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Micros } from '../../src/contract/timestamp.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Batch, Frontier, StoreWriter } from '../../src/store/port.ts';
import type { Purge } from '../../src/store/removals.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { repairStore, setStoreAside } from '../../src/store/sqlite/repair/repair.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { openSqliteWriter, type SqliteWriterOptions } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { labelers, noon, numberedBatch } from '../conformance/labels.ts';
import { changeFile, toStateSchema1, withoutPlaces, writeEarlierStore } from '../store/earlier-store.ts';
import type { Operation } from './file-operations.ts';
import { generationId, readAll, type StoreState, storeState } from './store-state.ts';

const [mod = ''] = labelers;
/** The store documents its own errors, and may handle every failure of a call. */
const onStore = { isDocumented: (error: unknown): boolean => error instanceof StoreError, reports: [] } as const;
/** An operation whose state is that of the whole store. */
const wholeStore = { ...onStore, state: (folder: string) => storeState(folder, noon) } as const;

async function withWriter<T>(
  folder: string,
  at: Micros,
  work: (writer: StoreWriter) => Promise<T>,
  options: Partial<SqliteWriterOptions> = {},
): Promise<T> {
  const writer = openSqliteWriter({ folder, at, generationId, ...options });
  try {
    return await work(writer);
  } finally {
    await writer.close();
  }
}

/** Creates a store with rows on several days, all of them open. */
async function fill(folder: string, days: readonly number[], rows = 12): Promise<void> {
  await withWriter(folder, noon, async (writer) => {
    for (const [n, d] of days.entries()) await writer.append(numberedBatch(n, noon + d * day, rows));
  });
}

const commitAt = [0, hour, day, day + hour] as const;
const gap = { source: mod, reason: 'ingest_paused', start: noon, end: micros(noon + hour) } as const;

/** Commits batches on both sides of midnight, and the instrument's other data. The first batch creates the store. */
const commit: Operation = {
  name: 'commit',
  prepare: (folder) => Promise.resolve(void mkdirSync(folder, { recursive: true })),
  run: (folder, onStep, onReport) =>
    withWriter(folder, noon, async (writer) => {
      onStep();
      const [position] = await writer.positions();
      const done = position === undefined ? 0 : Number(position.value) + 1;
      for (const [n, at] of commitAt.entries()) {
        // Retry a retryable failure, as the instrument does.
        if (n >= done) await againOnce(() => writer.append(numberedBatch(n, noon + at)), onReport);
        onStep();
      }
      await writer.recordGap(gap);
      onStep();
      await writer.beat(micros(noon + day));
      onStep();
      await writer.putNote('test', 'a note');
    }),
  // Ignore the file names: the file of a day can exist before the first row of the day is stored.
  state: async (folder) => ({ ...(await storeState(folder, noon)), files: [] }),
  ...onStore,
};

/** Retries once after a retryable error. */
async function againOnce<T>(work: () => Promise<T>, onReport: (error: unknown) => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError && error.retry)) throw error;
    onReport(error);
    return work();
  }
}

/** Runs upkeep, and retries as the instrument does. */
async function maintain(
  folder: string,
  at: Micros,
  onReport: (error: unknown) => void,
  options: Partial<SqliteWriterOptions> = {},
): Promise<void> {
  await withWriter(
    folder,
    noon,
    async (writer) => {
      const { postponed } = await againOnce(() => writer.maintain(at), onReport);
      if (postponed.length === 0) return;
      onReport(new Error(`sealing was postponed for ${postponed.join(' ')}`));
      const still = (await writer.maintain(at)).postponed;
      if (still.length > 0) throw new StoreError('disk_full', `sealing was postponed again for ${still.join(' ')}`);
    },
    options,
  );
}

/** Seals a day that can no longer receive duplicates. */
const seal: Operation = {
  name: 'seal',
  prepare: (folder) => fill(folder, [0, 4], 80),
  run: (folder, _, onReport) => maintain(folder, micros(noon + 4 * day), onReport),
  ...wholeStore,
};

/** Removes the oldest day from the window. */
const expire: Operation = {
  name: 'expire',
  prepare: async (folder) => {
    await fill(folder, [0, 1, 2]);
    await withWriter(folder, noon, (writer) => writer.recordGap(gap));
  },
  run: (folder, _, onReport) => maintain(folder, micros(noon + 2 * day), onReport, { windowDays: 0 }),
  ...wholeStore,
};

/**
 * Migrates a state file of schema 1, an open day without the table of refused rows, and a sealed day without checksums.
 */
const migrate: Operation = {
  name: 'migrate',
  prepare: async (folder) => {
    writeEarlierStore(folder);
    toStateSchema1(folder);
    const sealed = join(folder, 'days', '2024-10-04.sealed.sqlite');
    chmodSync(sealed, 0o644);
    withoutPlaces(sealed);
    changeFile(
      sealed,
      `DROP TABLE block; DROP TABLE group_sum; DELETE FROM migration WHERE version > 4; PRAGMA user_version = 4`,
    );
  },
  run: async (folder, onStep, onReport) => {
    const at = micros(noon + 5 * day);
    const empty: Batch = { at, observations: [], refusals: [], positions: [] };
    await withWriter(folder, at, (writer) => againOnce(() => writer.append(empty), onReport));
    onStep();
    await maintain(folder, at, onReport);
  },
  ...wholeStore,
};

/** Purges one labeler from a sealed and an open day. A day that the purge reports as left fails the operation. */
const purge: Operation = {
  name: 'purge',
  prepare: async (folder) => {
    await fill(folder, [0, 4, 5], 30);
    await withWriter(folder, noon, (writer) => writer.maintain(micros(noon + 4 * day)));
  },
  run: (folder, onStep) => {
    const left: StoreError[] = [];
    return withWriter(
      folder,
      noon,
      async (writer) => {
        const at = micros(noon + 5 * day + hour);
        left.length = 0;
        await writer.requestPurge({ source: mod, at });
        onStep();
        while (await writer.purge(at)) onStep();
        if (left[0]) throw left[0];
      },
      {
        onFile: ({ action, reason }) => {
          if (action === 'left') left.push(new StoreError('damaged', reason));
        },
      },
    );
  },
  // Omit the revision, which a repeated purge increases again, and the number of removed rows, which can be too low.
  state: async (folder) => {
    const { frontier, purges, ...state } = await storeState(folder, noon);
    const { revision: _, ...bounds } = frontier as Frontier;
    const progress = (purges as readonly Purge[]).map(({ source, completedAt, daysLeft }) => ({
      ...{ source, completedAt, daysLeft },
    }));
    return { ...state, bounds, progress };
  },
  ...onStore,
  between: (state, first, last) => {
    const [rows, before, after] = [state, first, last].map((of) => texts((of as StoreState).rows));
    if ([...(after ?? [])].some((row) => !rows?.has(row))) return 'a row of another labeler is missing';
    return [...(rows ?? [])].every((row) => before?.has(row)) ? null : 'a row exists that was never stored';
  },
};

function texts(rows: StoreState['rows']): Set<string> {
  return new Set(rows.map((row) => JSON.stringify(row)));
}

/** Moves the whole store aside to begin a new epoch. */
const newEpoch: Operation = {
  name: 'new-epoch',
  prepare: (folder) => fill(folder, [0, 1]),
  run: (folder) => Promise.resolve(void setStoreAside(folder, new Date(0))),
  state: async (folder) => {
    const moved = readdirSync(folder).find((name) => name.startsWith('set-aside-') && !name.endsWith('.unfinished'));
    return stateIfAny(moved === undefined ? folder : join(folder, moved));
  },
  ...onStore,
  between: refusedUntilRepeated,
};

/** Restores a backup if the store is missing. */
const restore: Operation = {
  name: 'restore',
  prepare: async (folder) => {
    await fill(join(folder, 'backup'), [0, 1]);
    mkdirSync(join(folder, 'store'));
  },
  run: async (folder) => {
    const at = micros(noon + 2 * day);
    await restoreStore({ from: join(folder, 'backup'), folder: join(folder, 'store'), at }).catch((error: unknown) => {
      // Ignore the error: the store already exists because the previous run completed.
      if (!(error instanceof StoreError && error.code === 'occupied')) throw error;
    });
  },
  state: (folder) => stateIfAny(join(folder, 'store')),
  ...onStore,
  between: refusedUntilRepeated,
};

/**
 * Returns the state of a store, or 'nothing' for a directory without a store: opening the store to read its state would
 * create one.
 */
async function stateIfAny(folder: string): Promise<unknown> {
  const isNothing = readdirSync(folder).every((name) => /^(?:writer|standby)\.lock/.test(name));
  return isNothing ? 'nothing' : storeState(folder, noon);
}

function refusedUntilRepeated(state: unknown): string | null {
  return state instanceof StoreError && state.message.includes('interrupted')
    ? null
    : 'the state is neither old nor new';
}

/** Recomputes lost counters. */
const repair: Operation = {
  name: 'repair',
  prepare: async (folder) => {
    await seal.prepare(folder);
    await maintain(folder, micros(noon + 4 * day), () => undefined);
    changeFile(join(folder, 'days', '2024-10-04.sealed.sqlite'), 'DELETE FROM counter_hour');
    changeFile(join(folder, 'days', '2024-10-08.open.sqlite'), 'DELETE FROM counter_hour');
  },
  run: async (folder, onStep) => {
    for await (const { day: report } of repairStore({ folder })) {
      const [problem] = report.problems;
      if (problem !== undefined) throw new StoreError('damaged', problem);
      onStep();
    }
  },
  state: (folder) => storeState(folder, noon).catch((error: unknown) => error),
  ...onStore,
};

/**
 * Query results of the last run, by directory. If they differ from the results without faults, `state` returns them
 * instead of the state of the store.
 */
const answers = new Map<string, unknown>();

/** Runs every query. If a system call fails, the query must either fail or return a complete result. */
const read: Operation = {
  name: 'read',
  prepare: async (folder) => {
    await fill(folder, [0, 4, 5], 80);
    await withWriter(folder, noon, (writer) => writer.maintain(micros(noon + 4 * day)));
  },
  run: async (folder) => {
    answers.delete(folder);
    const reader = openSqliteReader(folder);
    try {
      const answer = await readAll(reader);
      const [problem] = answer.problems;
      if (problem !== undefined) throw new StoreError('damaged', problem);
      answers.set(folder, answer);
    } finally {
      await reader.close();
    }
  },
  state: async (folder) => {
    const now = await storeState(folder, noon);
    const { files: _, instrument: __, ...expected } = now;
    const answer = answers.get(folder);
    if (answer !== undefined && JSON.stringify(answer) !== JSON.stringify(expected)) return { answer };
    return now;
  },
  ...onStore,
};

/** All operations on the observation store. */
export const storeOperations: readonly Operation[] = [
  commit,
  seal,
  expire,
  migrate,
  purge,
  newEpoch,
  restore,
  repair,
  read,
];
