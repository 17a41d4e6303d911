import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { artifactNames } from '../../artifact/write.ts';
import { formatTimestamp, type Micros } from '../../contract/timestamp.ts';
import { httpSchemes, socketSchemes, type UrlRules } from '../../input/url.ts';
import { createLabels } from '../../labels/labels.ts';
import { requireDenyList } from '../../labels/operator/deny-file.ts';
import { readHold, releaseHold, setHold } from '../../labels/operator/hold.ts';
import { readSeeds } from '../../labels/roster/seeds.ts';
import { noTelemetry, type Telemetry } from '../../labels/shares/telemetry.ts';
import { createStandbyStore, type InstrumentRole } from '../../labels/standby/standby-store.ts';
import { liveTimings } from '../../labels/stream/open-stream.ts';
import { OperatorError } from '../../ops/errors.ts';
import { createLog, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { companionFolder, type FileEvent, openStoreStandby, openStoreWriter, parseStoreUrl } from '../../store/open.ts';
import type { StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { packageRoot } from '../command.ts';
import { serveUntilStopped } from '../serve.ts';
import { directoriesOf, operatorUrl, userAgentFor } from '../shared-settings.ts';
import { type LabelsValues, opened, refused } from './labels-action.ts';

const windowDays = 30;

/** Observes every labeler until the process is asked to stop. */
export async function observe(values: LabelsValues, print: (line: string) => void): Promise<number> {
  const log = createLog('labels', values.logLevel);
  return serveUntilStopped({
    metricsPort: values.metricsPort,
    collectMetrics: values.metricsPort !== null,
    log,
    start: async (registry) => {
      const telemetry = registry ? (await import('./labels-metrics.ts')).labelsMetrics(registry) : noTelemetry;
      const settings = {
        folder: companionFolder(values.store, values.state),
        isStoreRemote: parseStoreUrl(values.store).kind === 'postgres',
        artifacts: values.artifacts,
        windowDays,
        seeds: await readSeeds(values.seeds ?? join(packageRoot(), 'assets', 'labelers.json')),
        relays: values.relay.map((relay) => checkedUrl('relay', relay, { schemes: httpSchemes })),
        ...directoriesOf(values.plc),
        jetstream: values.jetstream === '' ? null : checkedUrl('jetstream', values.jetstream, jetstreamRules),
        userAgent: userAgentFor(values),
        publishSeconds: values.publishSeconds,
        discoverySeconds: values.discoverySeconds,
        origin: values.allowLoopback ? ('simulated' as const) : ('live' as const),
        dailyBytes: values.dayMegabytes === 0 ? null : values.dayMegabytes * 1_000_000,
        maxEnrolled: values.maxLabelers,
        minFreeBytes: values.minFreeMegabytes * 1_000_000,
        timings: liveTimings,
      };
      if (settings.isStoreRemote) mkdirSync(settings.folder, { recursive: true });
      // Check the list of denials before opening the store, because a damaged list would let denied labelers be read.
      await requireDenyList(settings.folder);
      const { store, role } = await opened(values.store, () =>
        openInstrumentStore(values, {
          ...{ clock: wall, windowDays, onFile: logFile(log), telemetry },
          activated: () => print('almanac labels observing'),
          // A hand-over through a database stops this process in the same way as a service manager would.
          asked: () => process.kill(process.pid, 'SIGTERM'),
        }),
      );
      const labels = createLabels({
        ...{ settings, store },
        ...(role && { role }),
        policy: { allowLoopback: values.allowLoopback },
        clocks: { wall, monotonic: () => Math.round(performance.now() * 1000) },
        random: Math.random,
        // Do not confirm handles of the simulated network, because public resolvers cannot resolve its names.
        ...(values.allowLoopback && { resolveTxt: null }),
        log,
        telemetry,
      });
      await labels.start().catch((error: unknown) => {
        throw refused(values.store, error);
      });
      print(role ? 'almanac labels standing by' : 'almanac labels observing');
      return labels;
    },
  });
}

/** Returns a callback that logs each file that the store removes, moves or leaves in place. */
function logFile(log: Log) {
  return ({ action, name, day, reason }: FileEvent): void => {
    const fields = { file: name, day, reason };
    if (action === 'removed' || action === 'rewritten') log.info(`store file ${action}`, fields);
    else log.warn(`store file ${action === 'left' ? 'left alone' : 'moved aside'}`, fields);
  };
}

/**
 * Withholds the label facts from publication for the given reason. Rejects with OperatorError if no reason is given
 * or the artifact directory does not exist.
 */
export async function hold({ artifacts, reason }: LabelsValues, print: (line: string) => void): Promise<number> {
  if (reason === null || reason.trim() === '') {
    throw new OperatorError('hold requires a reason: almanac labels hold --reason "…"');
  }
  assertFolder(artifacts);
  const before = await readHold(artifacts);
  await setHold(artifacts, artifactNames.labels, { reason, since: formatTimestamp(Date.now()) });
  if (before !== null) print(`replaces the hold since ${before.since || 'an unknown time'}: ${before.reason}`);
  print(`the label facts of ${artifacts} are held; almanac labels release ends the hold`);
  if (!existsSync(join(artifacts, artifactNames.labels)))
    print(`no ${artifactNames.labels} exists there yet: is it the directory that the facts API reads?`);
  return 0;
}

/** Ends a hold, so that the label facts are published again. */
export async function release({ artifacts }: LabelsValues, print: (line: string) => void): Promise<number> {
  assertFolder(artifacts);
  const released = await releaseHold(artifacts, artifactNames.labels);
  print(released ? `the label facts of ${artifacts} are released` : `the label facts of ${artifacts} were not held`);
  return 0;
}

/** Throws if the directory does not exist, because a hold in a directory with a mistyped name would have no effect. */
function assertFolder(artifacts: string): void {
  if (statSync(artifacts, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new OperatorError(`${artifacts} is not a directory; set the artifact directory with --artifacts`);
}

function wall() {
  return micros(Date.now() * 1000);
}

const jetstreamRules: UrlRules = { schemes: socketSchemes, admits: ['credentials'] };

/** Validates a URL and returns it exactly as the operator wrote it. */
function checkedUrl(flag: string, text: string, rules: UrlRules): string {
  operatorUrl(flag, text, rules);
  return text;
}

/** Options for opening the store of an instrument. */
interface InstrumentStoreOptions {
  readonly clock: () => Micros;
  readonly windowDays: number;
  readonly onFile: (event: FileEvent) => void;
  readonly telemetry: Pick<Telemetry, 'standbyDropped'>;
  /** Called once when this process is asked through the store to stop. */
  readonly asked: () => void;
  /** Called once a standby has become the active instrument. */
  readonly activated: () => void;
}

/**
 * Opens the store of the instrument for writing. With `--standby`, opens it as a standby while another process writes
 * it.
 */
async function openInstrumentStore(
  { store: url, standby: mayStandBy }: Pick<LabelsValues, 'store' | 'standby'>,
  { clock, telemetry, activated, ...writing }: InstrumentStoreOptions,
): Promise<{ readonly store: StoreWriter; readonly role: InstrumentRole | null }> {
  try {
    return { store: await openStoreWriter(url, { ...writing, at: clock(), clock }), role: null };
  } catch (error) {
    if (!(mayStandBy && error instanceof StoreError && error.code === 'second_writer')) throw error;
  }
  const standby = await openStoreStandby(url, { ...writing, clock });
  const kept = createStandbyStore({ standby, clock, dropped: (rows) => telemetry.standbyDropped(rows) });
  return { store: kept.store, role: { role: 'standby', generation: 0, standby, kept, activated } };
}
