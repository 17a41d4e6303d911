import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import type { Micros } from '../../contract/timestamp.ts';
import { httpSchemes, socketSchemes, type UrlRules } from '../../input/url.ts';
import { createLabels, type Labels } from '../../labels/labels.ts';
import { requireDenyList } from '../../labels/operator/deny-file.ts';
import { readSeeds } from '../../labels/roster/labeler-lists.ts';
import { noTelemetry, type Telemetry } from '../../labels/shares/telemetry.ts';
import { createStandbyStore, type InstrumentRole } from '../../labels/standby/standby-store.ts';
import { liveTimings } from '../../labels/stream/outbound.ts';
import { createLog, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { companionFolder, type FileEvent, openStoreStandby, openStoreWriter, parseStoreUrl } from '../../store/open.ts';
import type { StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { packageRoot } from '../command.ts';
import { serveUntilStopped } from '../serve.ts';
import { directoriesOf, operatorUrl, userAgentFor } from '../shared-settings.ts';
import { type LabelsAction, opened } from './labels-action.ts';

const windowDays = 30;

/**
 * Growth of the heap after which V8 collects the old generation, in percent of the live heap. Without it, V8 grows a heap
 * of 270 MB, as with 7,000 labelers, halfway to its limit. The frames of a labeler live for hours, so a larger heap only
 * takes memory. With 3,500 labelers, 20 percent took 8 % less memory and 5 % more processor time.
 */
const heapGrowthPercent = 15;

/** Observes every labeler until the process is asked to stop. */
export const observe: LabelsAction = (values, print) => {
  const log = createLog('labels', values.logLevel);
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
  return serveUntilStopped({
    metricsPort: values.metricsPort,
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
        maxLabelers: values.maxLabelers,
        minFreeBytes: values.minFreeMegabytes * 1_000_000,
        timings: liveTimings,
      };
      if (settings.isStoreRemote) mkdirSync(settings.folder, { recursive: true });
      // Check the list of denials before opening the store, because a damaged list would let denied labelers be read.
      await requireDenyList(settings.folder);
      let labels: Labels | null = null;
      const { store, role } = await opened(values.store, () =>
        openInstrumentStore(values.store, values.standby, {
          ...{ companions: settings.folder, clock: wall, windowDays, onFile: logFile(log), telemetry },
          markClock: () => labels?.undoubtedTime() ?? null,
          activated: () => print('almanac labels observing'),
          // A hand-over through a database stops this process in the same way as a service manager would.
          asked: () => process.kill(process.pid, 'SIGTERM'),
        }),
      );
      const observing = createLabels({
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
      labels = observing;
      await opened(values.store, () => observing.start());
      print(role ? 'almanac labels standing by' : 'almanac labels observing');
      return observing;
    },
  });
};

/** Returns a callback that logs each file that the store removes, moves or leaves in place. */
function logFile(log: Log) {
  return ({ action, name, day, reason }: FileEvent): void => {
    const fields = { file: name, day, reason };
    if (action === 'removed' || action === 'rewritten') log.info(`store file ${action}`, fields);
    else log.warn(`store file ${action === 'left' ? 'left alone' : 'moved aside'}`, fields);
  };
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
  /** Directory of the files that accompany the store. */
  readonly companions: string;
  readonly clock: () => Micros;
  /** Clock for marks of the store; null while the clock is doubtful, and after a step. */
  readonly markClock: () => Micros | null;
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
  url: string,
  mayStandBy: boolean,
  { clock, telemetry, activated, ...writing }: InstrumentStoreOptions,
): Promise<{ readonly store: StoreWriter; readonly role: InstrumentRole | null }> {
  try {
    return { store: await openStoreWriter(url, { ...writing, at: clock() }), role: null };
  } catch (error) {
    if (!(mayStandBy && error instanceof StoreError && error.code === 'second_writer')) throw error;
  }
  const standby = await openStoreStandby(url, { ...writing, clock });
  const kept = createStandbyStore({ standby, clock, dropped: (rows) => telemetry.standbyDropped(rows) });
  return { store: kept.store, role: { role: 'standby', generation: 0, standby, kept, activated } };
}
