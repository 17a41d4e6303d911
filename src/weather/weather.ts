import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { artifactNames } from '../artifact/write.ts';
import { inputLimits } from '../input/limits.ts';
import { createNameResolver, systemHostsFile } from '../network/dns/name-resolver.ts';
import type { AddressPolicy } from '../network/guard/address-policy.ts';
import { type BytesAnswer, createHttpClient } from '../network/http/http.ts';
import type { BackoffOptions } from '../network/websocket/backoff.ts';
import { openSocket } from '../network/websocket/websocket.ts';
import { makeFolder } from '../ops/folder.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { createPublication, type Publication } from './hosts/publication.ts';
import { createPublisher, sweepTemporaries } from './publish/publisher.ts';
import { closedEnd } from './publish/read-summary.ts';
import { type Dictionaries, fetchedDictionary, givenDictionary } from './stream/dictionary.ts';
import { type Connect, maxFrameBytes } from './stream/reader.ts';
import { runSession } from './stream/session.ts';
import { hostPlaces, noTelemetry, telemetryOfHost, type WeatherTelemetry } from './stream/telemetry.ts';
import { dictionaryUrl, type Endpoint, parseEndpoints } from './window/endpoint.ts';
import { storeFault } from './window/store-faults.ts';
import {
  damaged,
  keptFrom,
  openWindowStore,
  type StoreFaults,
  storeFile,
  type WindowStore,
} from './window/window-store.ts';

/** Limits of a connection, in milliseconds; silence has a watchdog of its own, which knows the rate. */
const limits = { handshakeMs: 10_000, closeMs: 1_000, pingMs: 30_000, pongMs: 10_000, idleMs: 600_000 };
const pruneMs = 3_600_000;
/** How long a host may take over its dictionary, in milliseconds. */
const fetchMs = 10_000;

/** Settings of the instrument. */
export interface WeatherSettings {
  /** Addresses of one Jetstream host or two, the preferred one first. */
  readonly jetstream: readonly string[];
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

/** The weather instrument: one series for each host, one of them published. */
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
  const endpoints = parseEndpoints(settings.jetstream, policy);
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
  let publication: Publication | null = null;

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
  const publishing = (): Publication => {
    if (!publication) throw new Error('the instrument has not been started');
    return publication;
  };
  const publisher = createPublisher({
    path: join(settings.artifacts, artifactNames.weather),
    publishMs: settings.publishSeconds * 1000,
    read: () => {
      const summary = publishing().read(clock() * 1000);
      const sinceUs = publishing().failoverSinceUs();
      telemetry.publishedHost(sinceUs === null ? 'first' : 'second', sinceUs === null ? null : sinceUs / 1000);
      return summary;
    },
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
  function dictionariesOf(endpoint: Endpoint): Dictionaries {
    if (endpoint.wire === 'jetstream.legacy') return givenDictionary(settings.dictionary);
    if (!settings.compress) return givenDictionary(null);
    const bounds = { maxBytes: inputLimits.zstdDictionary.bytes, timeoutMs: fetchMs };
    const fetch = (signal: AbortSignal): Promise<BytesAnswer> =>
      http.getBytes(dictionaryUrl(endpoint), { ...bounds, signal });
    return fetchedDictionary({ folder: settings.data, fetch, clock, log });
  }

  function committed(): void {
    const closed = closedEnd(open().series(publishing().published().name).live?.timeUs ?? null, clock() * 1000);
    if (closed > lastClosed) publisher.soon();
    lastClosed = closed;
  }

  /** Sessions follow each other: what one could not commit, the next reads again from the stored position. */
  async function work(observed: Endpoint, told: WeatherTelemetry, signal: AbortSignal): Promise<void> {
    const dictionaries = dictionariesOf(observed);
    while (!signal.aborted) {
      try {
        await runSession(
          {
            store: open(),
            endpoint: observed,
            connect,
            dictionaries,
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
      for (const { endpoint, predecessor } of publishing().hosts) {
        for (const { name } of predecessor ? [endpoint, predecessor] : [endpoint]) {
          open().prune(open().series(name).id, keptFrom(clock() * 1000));
        }
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
      publication = createPublication({ store, endpoints, startedUs: clock() * 1000, log });
      prune();
      pruning = setInterval(prune, pruneMs);
      await publisher.now();
      publisher.start();
      const sessions = publication.hosts.flatMap(({ endpoint, predecessor, retiring }, index) => {
        const host = hostPlaces[index] ?? 'second';
        telemetry.hostConnection(host, { isConnected: false, cause: null });
        return [
          work(endpoint, telemetryOfHost(telemetry, host), stopping.signal),
          ...(predecessor ? [work(predecessor, noTelemetry, AbortSignal.any([stopping.signal, retiring.signal]))] : []),
        ];
      });
      working = Promise.all(sessions).then(() => undefined, fail);
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
