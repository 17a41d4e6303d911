import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import { type Micros, parseTimestamp } from '../../src/contract/timestamp.ts';
import type { LabelsOptions, LabelsSettings } from '../../src/labels/assembly/foundation.ts';
import { createLabels } from '../../src/labels/labels.ts';
import { noTelemetry, type quirks, type Telemetry, type Transport } from '../../src/labels/shares/telemetry.ts';
import { createStandbyStore, type InstrumentRole } from '../../src/labels/standby/standby-store.ts';
import type { Timings } from '../../src/labels/stream/outbound.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqliteStandby, sqliteProcesses } from '../../src/store/sqlite/standby/standby.ts';
import { defaultMaxLogBytes, openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';
import { until } from '../process/until.ts';

type Quirk = (typeof quirks)[number];

/** Shortened timings: the tests observe within seconds what takes minutes on the live network. */
export const quickTimings: Timings = {
  pollMs: 200,
  confirmMs: 600,
  tailMs: 300,
  resumeMs: 1_000,
  streamRetryMs: 5_000,
  firstRetryMs: 50,
  maxRetryMs: 400,
  notEnrolledMs: 5_000,
  requestMs: 4_000,
  heartbeatMs: 400,
  upkeepMs: 300_000,
  clockMs: 1_000,
  lookupDelays: [0, 300, 1_500, 10_000],
  documentRetryMs: 2_000,
};

/** A label instrument in this process, with its own store. */
export interface LabelStation {
  readonly folder: string;
  readonly store: SqliteWriter;
  readonly quirks: ReadonlyMap<Quirk, number>;
  readonly hostFull: ReadonlyMap<Transport, number>;
  /** Returns the last artifact, waiting for the first one if necessary. Rejects if the instrument fails. */
  overview(): Promise<RecentOverview>;
  /** Resolves with the first artifact that is generated after this call. */
  published(): Promise<RecentOverview>;
  stop(): Promise<void>;
}

/** Starts an instrument. With the `folder` of a previous instrument, the new instrument uses the same store. */
export async function startStation(
  settings: Pick<LabelsSettings, 'seeds' | 'plc'> & Partial<LabelsSettings>,
  {
    folder = mkdtempSync(join(tmpdir(), 'almanac-labels-')),
    wall = wallClock,
    monotonic = monotonicClock,
    log = silentLog,
    maxLogBytes = defaultMaxLogBytes,
    resolveTxt = null as NonNullable<LabelsOptions['resolveTxt']> | null,
    role = null as InstrumentRole | null,
    unbalanced = noTelemetry.unbalanced,
    committed = noTelemetry.committed,
  } = {},
): Promise<LabelStation> {
  // Leave `limitPages` out: only the tests of a full disk use it, and these tests have no standby.
  const store: SqliteWriter = role
    ? { ...role.kept.store, limitPages: () => undefined }
    : openSqliteWriter({ folder: join(folder, 'store'), at: wall(), maxLogBytes });
  const quirks = new Map<Quirk, number>();
  const hostFull = new Map<Transport, number>();
  // Ignore earlier artifacts: the start may return before the first artifact is written, and an artifact of a previous
  // instrument may exist.
  const first = Promise.withResolvers<void>();
  const telemetry: Telemetry = {
    ...noTelemetry,
    published: () => first.resolve(),
    hostFull: (transport) => void hostFull.set(transport, (hostFull.get(transport) ?? 0) + 1),
    ...{ unbalanced, committed },
    quirk: (quirk) => void quirks.set(quirk, (quirks.get(quirk) ?? 0) + 1),
  };
  const artifacts = settings.artifacts ?? join(folder, 'artifacts');
  const labels = createLabels({
    settings: {
      folder,
      artifacts,
      windowDays: 30,
      userAgent: 'Almanac/test',
      relays: [],
      jetstream: null,
      publishSeconds: 0.25,
      discoverySeconds: 1,
      origin: 'simulated',
      minFreeBytes: 0,
      timings: quickTimings,
      ...settings,
    },
    store,
    ...(role && { role }),
    policy: { allowLoopback: true },
    clocks: { wall, monotonic },
    random: Math.random,
    resolveTxt,
    log,
    telemetry,
  });
  labels.failed.catch(first.reject);
  first.promise.catch(() => undefined);
  await labels.start();
  const overview = async () => {
    await first.promise;
    return JSON.parse(await readFile(join(artifacts, 'labels-overview.json'), 'utf8')) as RecentOverview;
  };
  return {
    folder,
    store,
    quirks,
    hostFull,
    overview,
    published: async () => {
      const since = wall();
      const isNewer = async () => (parseTimestamp((await overview()).generated_at) ?? 0) > since;
      await until('a new artifact is published', isNewer);
      return overview();
    },
    stop: () => labels.stop(),
  };
}

function wallClock(): Micros {
  return micros(Date.now() * 1000);
}

function monotonicClock(): number {
  return performance.now() * 1000;
}

/** Removes a station's directory. */
export function removeStation({ folder }: LabelStation): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A standby instrument that runs in this process. */
export interface StandbyStation {
  readonly station: LabelStation;
  /** Resolves when the standby is ready to replace its writer. */
  ready(): Promise<void>;
  /** Resolves when the standby has become the active instrument. */
  readonly active: Promise<void>;
}

/** Starts a standby for the store in a folder. `start` starts an instrument with the given role. */
export async function startStandby(
  folder: string,
  clock: () => Micros,
  start: (role: InstrumentRole) => Promise<LabelStation>,
): Promise<StandbyStation> {
  const path = join(folder, 'store');
  // Do not signal the writer: it runs in this process, which must not be killed.
  const signal = (): never => {
    throw new Error('the writer runs in this process');
  };
  const standby = openSqliteStandby({ folder: path, clock, signal });
  const active = Promise.withResolvers<void>();
  const station = await start({
    ...{ role: 'standby', generation: 0, standby, kept: createStandbyStore({ standby, clock }) },
    activated: () => active.resolve(),
  });
  return {
    station,
    ready: () => until('the standby is ready', () => sqliteProcesses(path).standby?.state === 'ready', 90_000),
    active: active.promise,
  };
}
