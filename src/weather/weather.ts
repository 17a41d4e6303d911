import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { WeatherSummary } from '../artifact/weather-summary.ts';
import { artifactNames } from '../artifact/write.ts';
import { inputLimits } from '../input/limits.ts';
import type { AddressPolicy } from '../network/address-policy.ts';
import type { BackoffOptions } from '../network/backoff.ts';
import { type BytesAnswer, createHttpClient } from '../network/http.ts';
import { createNameResolver, systemHostsFile } from '../network/name-resolver.ts';
import { openSocket } from '../network/websocket.ts';
import { makeFolder } from '../ops/folder.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { fetchedDictionary, givenDictionary } from './dictionary.ts';
import { dictionaryUrl, type Endpoint, parseEndpoint } from './endpoint.ts';
import { createPublisher, sweepTemporaries } from './publisher.ts';
import { closedEnd, readSummary } from './read-summary.ts';
import { type Connect, maxFrameBytes } from './reader.ts';
import { runSession } from './session.ts';
import { storeFault } from './store-faults.ts';
import { predecessorOf, successionCaveat, takesOver } from './succession.ts';
import { noTelemetry, type WeatherTelemetry } from './telemetry.ts';
import { damaged, keptFrom, openWindowStore, type StoreFaults, storeFile, type WindowStore } from './window-store.ts';

/** Limits of a connection, in milliseconds; silence has a watchdog of its own, which knows the rate. */
const limits = { handshakeMs: 10_000, closeMs: 1_000, pingMs: 30_000, pongMs: 10_000, idleMs: 600_000 };
const pruneMs = 3_600_000;
/** How long a host may take over its dictionary, in milliseconds. */
const fetchMs = 10_000;

/** Settings of the instrument. */
export interface WeatherSettings {
  /** Address of the one Jetstream host. */
  readonly jetstream: string;
  /** Folder of the store; made if it is not there. */
  readonly data: string;
  /** Folder of the artifact; made if it is not there. */
  readonly artifacts: string;
  readonly publishSeconds: number;
  readonly backfillHours: number;
  readonly backfillBytes: number;
  /** The zstd dictionary of a host of the legacy wire; null to read without compression. */
  readonly dictionary: Buffer | null;
  /** Ask a host of the method for compressed frames, with the dictionary that it gives. */
  readonly compress: boolean;
}

/** Dependencies of the instrument. */
export interface WeatherDeps {
  readonly settings: WeatherSettings;
  readonly policy: AddressPolicy;
  /** Sent with every handshake. */
  readonly userAgent: string;
  /** This machine's wall clock, milliseconds since 1970. */
  readonly clock: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Rhythms, for tests; in milliseconds. */
  readonly pace?: Partial<Pace>;
  readonly faults?: StoreFaults;
}

/** The instrument's rhythms in milliseconds. */
interface Pace {
  /** Between commits: at most so much is read again after a crash. */
  readonly commitMs: number;
  /** Between tries to write while the disk is full. */
  readonly probeMs: number;
  readonly backoff: Omit<BackoffOptions, 'random'>;
}

const usualPace: Pace = { commitMs: 1_000, probeMs: 5_000, backoff: { firstMs: 1_000, capMs: 30_000 } };

/** The weather instrument of one host. */
export interface Weather {
  /** Resolves when the store is open and an artifact is written. Rejects with OperatorError when it cannot begin. */
  start(): Promise<void>;
  /** Commits what was counted, writes the artifact, and closes the store. */
  stop(): Promise<void>;
  /** Rejects when the instrument cannot go on: a damaged store, or a fault of ours. Never resolves. */
  readonly failed: Promise<never>;
  /** Writes the artifact now. */
  publish(): Promise<void>;
}

/** Makes the instrument; nothing runs before `start`. */
export function createWeather(deps: WeatherDeps): Weather {
  const { settings, policy, userAgent, clock, log, telemetry } = deps;
  const endpoint = parseEndpoint(settings.jetstream, policy);
  const { resolve } = createNameResolver({ hostsFile: systemHostsFile });
  const pace = { ...usualPace, ...deps.pace };
  const stopping = new AbortController();
  const failed = Promise.withResolvers<never>();
  // If no caller awaits it, `stop` reports the error.
  failed.promise.catch(() => undefined);
  let store: WindowStore | null = null;
  let working: Promise<void> = Promise.resolve();
  let lastClosed = 0;
  let broken = false;
  /** The legacy series of the host, while it is the one that is published. */
  let predecessor: Endpoint | null = null;
  const retiring = new AbortController();

  const fail = (error: unknown): void => {
    const path = join(settings.data, storeFile);
    const fault = storeFault(error) === 'damaged' ? damaged(path, error instanceof Error ? error.message : '') : error;
    log.error('the instrument stopped', errorFields(fault));
    broken = true;
    failed.reject(fault);
    stopping.abort();
  };
  const open = (): WindowStore => {
    if (!store) throw new Error('the instrument has not been started');
    return store;
  };
  const published = (): Endpoint => predecessor ?? endpoint;
  /** Two series of one host: the legacy one is published until the present one takes over, once and for good. */
  function summary(): WeatherSummary {
    const nowUs = clock() * 1000;
    const origin = endpoint.simulated ? 'simulated' : 'live';
    const own = readSummary({ store: open(), endpoint, origin, nowUs });
    if (!predecessor) return own;
    const rivals = { store: open(), nowUs, present: endpoint.name, legacy: predecessor.name, summary: own };
    if (takesOver(rivals)) {
      open().takeOver(open().series(endpoint.name).id);
      predecessor = null;
      retiring.abort();
      log.info('the series of the present wire is published from now on', { endpoint: endpoint.name });
      return own;
    }
    const caveats = [successionCaveat(open(), endpoint.name, nowUs)];
    return readSummary({ store: open(), endpoint: predecessor, origin, nowUs, caveats });
  }
  const publisher = createPublisher({
    path: join(settings.artifacts, artifactNames.weather),
    publishMs: settings.publishSeconds * 1000,
    read: summary,
    clock,
    log,
    telemetry,
    failed: (error) => {
      if (storeFault(error) !== 'full') fail(error);
    },
  });
  const connect: Connect = (options, signal) =>
    openSocket({ ...limits, policy, userAgent, resolve, maxFrameBytes, ...options }, signal);
  const http = createHttpClient({ policy, userAgent, resolve });
  const fetchDictionary = (signal: AbortSignal): Promise<BytesAnswer> =>
    http.getBytes(dictionaryUrl(endpoint), { maxBytes: inputLimits.zstdDictionary.bytes, timeoutMs: fetchMs, signal });
  const ofFile = givenDictionary(settings.dictionary);
  const ofHost = settings.compress
    ? fetchedDictionary({ folder: settings.data, fetch: fetchDictionary, clock, log })
    : givenDictionary(null);

  function committed(): void {
    const closed = closedEnd(open().series(published().name).live?.timeUs ?? null, clock() * 1000);
    if (closed > lastClosed) publisher.soon();
    lastClosed = closed;
  }

  /** Sessions follow each other: what one could not commit, the next reads again from the stored position. */
  async function work(observed: Endpoint, told: WeatherTelemetry, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await runSession(
          {
            store: open(),
            endpoint: observed,
            connect,
            dictionaries: observed.wire === 'jetstream.legacy' ? ofFile : ofHost,
            random: deps.random,
            backoff: { ...pace.backoff, random: deps.random },
            clock,
            log,
            telemetry: told,
            backfillHours: settings.backfillHours,
            backfillBytes: settings.backfillBytes,
            commitMs: pace.commitMs,
            committed,
          },
          signal,
        );
      } catch (error) {
        if (storeFault(error) !== 'full') throw error;
        telemetry.notWritten('store');
        log.error('the store is not writable; nothing is counted until it is', errorFields(error));
        await untilWritable();
      }
    }
  }

  async function untilWritable(): Promise<void> {
    while (!stopping.signal.aborted) {
      await wait(pace.probeMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      try {
        open().probe();
        log.info('the store is writable again');
        return;
      } catch (error) {
        if (storeFault(error) !== 'full') throw error;
      }
    }
  }

  const prune = (): void => {
    try {
      for (const { name } of predecessor ? [endpoint, predecessor] : [endpoint]) {
        open().prune(open().series(name).id, keptFrom(clock() * 1000));
      }
    } catch (error) {
      if (storeFault(error) !== 'full') fail(error);
    }
  };
  let pruning: NodeJS.Timeout | null = null;

  return {
    failed: failed.promise,
    publish: () => publisher.now(),
    async start() {
      makeFolder(settings.artifacts);
      store = openWindowStore(settings.data, deps.faults);
      await sweepTemporaries(join(settings.artifacts, artifactNames.weather));
      predecessor = predecessorOf(store, endpoint);
      prune();
      pruning = setInterval(prune, pruneMs);
      await publisher.now();
      publisher.start();
      const retired = AbortSignal.any([stopping.signal, retiring.signal]);
      const legacy = predecessor ? [work(predecessor, noTelemetry, retired)] : [];
      working = Promise.all([work(endpoint, telemetry, stopping.signal), ...legacy]).then(() => undefined, fail);
    },
    async stop() {
      stopping.abort();
      if (pruning) clearInterval(pruning);
      await working;
      await http.close();
      await publisher.stop();
      if (store && !broken) await publisher.now();
      store?.close();
      log.info('stopped');
    },
  };
}
