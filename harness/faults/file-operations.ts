import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSecrets } from '../../src/account/cursor/cursor.ts';
import { artifactNames, writeArtifact } from '../../src/artifact/write.ts';
import { ExportFailure } from '../../src/export/failure.ts';
import { changeDenyFile, formatDenyList, requireDenyList } from '../../src/labels/operator/deny-file.ts';
import { readHold, releaseHold, setHold, writeHeld } from '../../src/labels/operator/hold.ts';
import { OperatorError, systemCode } from '../../src/ops/errors.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';
import { emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore } from '../../src/weather/window/window-store.ts';
import { saveRows } from '../export/save-rows.ts';
import type { CallClass } from './shim.ts';

/** An operation on files. The fault tests run it once for each of its system calls, and make that call fail. */
export interface Operation {
  readonly name: string;
  /** Creates the initial directory, from which each run starts. */
  prepare(directory: string): Promise<void>;
  /**
   * Runs the operation, or the remaining part if a previous run was interrupted. Calls `onStep` after each completed
   * part. An error from `onStep` ends the run. Calls `onReport` for errors that are reported and retried.
   */
  run(directory: string, onStep: () => void, onReport: (error: unknown) => void): Promise<void>;
  /** Returns the directory's content as a reader receives it. Throws if the content cannot be read. */
  state(directory: string): Promise<unknown>;
  /** Returns true if the operation documents this kind of error. */
  isDocumented(error: unknown): boolean;
  /** Classes of calls whose failure must be reported, even if the operation handles it. */
  readonly reports: readonly CallClass[];
  /**
   * Returns the reason why an intermediate state is wrong, or null if the operation may leave it. Absent if the
   * operation has no intermediate states.
   */
  between?(state: unknown, first: unknown, last: unknown): string | null;
}

/** Returns true for an error that an operator can act on: an OperatorError, or an error with a system code. */
const isOperators = (error: unknown): boolean =>
  error instanceof OperatorError || (systemCode(error) ?? '').startsWith('E');

/** Classes of system calls that change a file. Every failure of such a call must be reported. */
const changes: readonly CallClass[] = ['create', 'write', 'sync', 'truncate', 'rename', 'mkdir', 'link'];

/** Errors that an operation of an operator documents, and the failures that it reports. */
const operators = { isDocumented: isOperators, reports: changes } as const;

const made = (folder: string): Promise<void> => Promise.resolve(void mkdirSync(folder, { recursive: true }));
const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null);

/** Replaces an artifact with a larger one. */
const publish: Operation = {
  name: 'publish',
  prepare: async (folder) => {
    await made(folder);
    await writeArtifact(join(folder, artifactNames.labels), { generation: 'old' });
  },
  run: (folder) => writeHeld(folder, artifactNames.labels, { generation: 'new', filler: 'x'.repeat(100_000) }),
  state: (folder) =>
    Promise.resolve({ artifact: textOf(join(folder, artifactNames.labels)), files: readdirSync(folder) }),
  ...operators,
};

/** Sets the hold. */
const hold: Operation = {
  name: 'hold',
  prepare: publish.prepare,
  run: (folder) => setHold(folder, artifactNames.labels, { reason: 'a test', since: '2026-11-20T12:00:00Z' }),
  state: held,
  ...operators,
  // Accept a hold that the artifact does not show: the instrument adds the hold to the next artifact.
  between: (state) => (isHeld(state) ? null : 'the artifact is held, but no hold is set'),
};

/** Releases the hold. */
const release: Operation = {
  name: 'release',
  prepare: async (folder) => {
    await publish.prepare(folder);
    await setHold(folder, artifactNames.labels, { reason: 'a test', since: '2026-11-20T12:00:00Z' });
  },
  run: async (folder) => void (await releaseHold(folder, artifactNames.labels)),
  state: held,
  ...operators,
  between: (state) => (isHeld(state) ? 'the hold is set, but the artifact is not held' : null),
};

async function held(folder: string): Promise<unknown> {
  return {
    hold: await readHold(folder),
    artifact: JSON.parse(textOf(join(folder, artifactNames.labels)) ?? 'null') as unknown,
    files: readdirSync(folder),
  };
}

function isHeld(state: unknown): boolean {
  return (state as { hold: unknown }).hold !== null;
}

/** Denies a labeler, then a domain. */
const deny: Operation = {
  name: 'deny',
  prepare: made,
  run: async (folder, onStep) => {
    const since = '2026-11-20T12:00:00.000Z';
    const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
    const entry = { reason: 'a test', since, purge: null };
    await changeDenyFile(folder, (list) => list.with({ ...entry, target: { kind: 'did', did } }));
    onStep();
    await changeDenyFile(folder, (list) => list.with({ ...entry, target: { kind: 'domain', domain: 'a.example' } }));
  },
  state: async (folder) => ({ list: formatDenyList(await requireDenyList(folder)), files: readdirSync(folder) }),
  ...operators,
};

/** Creates the random secret that protects cursors. */
const secret: Operation = {
  name: 'secret',
  prepare: made,
  run: (folder) => Promise.resolve(void readSecrets(join(folder, 'secret'))),
  state: (folder) => {
    const isThere = existsSync(join(folder, 'secret'));
    if (isThere) readSecrets(join(folder, 'secret'));
    return Promise.resolve({ files: readdirSync(folder) });
  },
  ...operators,
};

const host = 'wss://host.example/subscribe';
const minute = 29_000_000 * windowUs;

/** Commits counts to a window store until its series has the given revision, and removes the oldest window. */
export function commitWindows(folder: string, last: number, onStep: () => void = () => undefined): void {
  const store = openWindowStore(folder);
  try {
    const { id, revision } = store.series(host);
    onStep();
    for (let n = revision; n < last; n++) {
      const delta = emptyDelta(minute + n * windowUs);
      delta.events = n + 1;
      const at = delta.start + 1;
      const live = { kind: 'time', value: at, counted: 2, timeUs: at } as const;
      const gains = [{ windows: [delta], observed: [{ from: delta.start, to: at }] }];
      store.commit({ series: id, after: n, gains, live, backfill: null });
      onStep();
    }
    store.prune(id, minute + windowUs);
  } finally {
    store.close();
  }
}

/** Returns everything that a window store contains after `commitWindows`. */
export function windowsIn(folder: string): unknown {
  const store = openWindowStore(folder);
  try {
    const series = store.series(host);
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    return [series, store.windows(series.id, all, metricNames), store.observed(series.id, all)];
  } finally {
    store.close();
  }
}

/** Creates the window store and commits counts. */
const weather: Operation = {
  name: 'weather commit',
  prepare: made,
  run: (folder, onStep) => Promise.resolve(commitWindows(folder, 3, onStep)),
  state: (folder) => Promise.resolve(windowsIn(folder)),
  // Require no report: SQLite tolerates a failed directory sync or checkpoint, because the log keeps the data.
  reports: [],
  isDocumented: (error) => isOperators(error) || (systemCode(error) ?? '').startsWith('SQLITE_'),
};

/** Replaces an older file with an export. A CSV export has a separate manifest. */
const exportCsv: Operation = {
  name: 'export',
  prepare: async (folder) => {
    await made(folder);
    await writeArtifact(join(folder, 'rows.csv'), { generation: 'old' });
  },
  run: (folder) => saveRows(join(folder, 'rows.csv')),
  state: (folder) => {
    const files = readdirSync(folder);
    return Promise.resolve({ files, texts: files.map((name) => textOf(join(folder, name))) });
  },
  isDocumented: (error) => error instanceof ExportFailure,
  reports: changes,
  // Accept a new manifest with old rows: the manifest is written first, and identifies its rows by a digest.
  between: (state) => {
    const { files, texts } = state as { files: readonly string[]; texts: readonly string[] };
    const rowsText = texts[files.indexOf('rows.csv')];
    if (files.some((name) => name.endsWith('.tmp'))) return 'a temporary file remains';
    return rowsText?.includes('old') ? null : 'there are new rows without their manifest';
  },
};

/** All operations on files outside the observation store. */
export const fileOperations: readonly Operation[] = [publish, hold, release, deny, secret, weather, exportCsv];
