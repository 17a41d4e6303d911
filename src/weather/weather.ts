import { join } from 'node:path';
import { hoursLimits } from '../artifact/hours/hours.ts';
import type { WeatherHours } from '../artifact/hours/weather-hours.ts';
import { artifactNames } from '../artifact/write.ts';
import { inputLimits } from '../input/limits.ts';
import { createNameResolver, systemHostsFile } from '../network/dns/name-resolver.ts';
import type { AddressPolicy } from '../network/guard/address-policy.ts';
import { type BytesClient, createHttpClient } from '../network/http/http.ts';
import type { BackoffOptions } from '../network/websocket/backoff.ts';
import { openSocket } from '../network/websocket/websocket.ts';
import { makeFolder } from '../ops/errors.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { sweepTemporaries } from '../ops/temporaries.ts';
import { createPublication, type ObservedHost, type Publication } from './hosts/publication.ts';
import { createHoursReader } from './publish/hours.ts';
import { closedEnd, createPublisher, type Publisher } from './publish/read-summary.ts';
import { type Dictionaries, fetchedDictionary, givenDictionary } from './stream/dictionary.ts';
import { type Connect, maxFrameBytes } from './stream/reader.ts';
import { runSessions } from './stream/session.ts';
import { hostPlaces, noTelemetry, telemetryOfHost, type WeatherTelemetry } from './stream/telemetry.ts';
import { dictionaryUrl, type Endpoint, parseEndpoints } from './window/endpoint.ts';
import { storeFault } from './window/store-schema.ts';
import { hourUs } from './window/window.ts';
import {
  damaged,
  keptFrom,
  openWindowStore,
  type StoreFaults,
  storeFile,
  type WindowStore,
} from './window/window-store.ts';

/** Limits of a connection, in milliseconds. The reader itself limits silence, based on the rate of events. */
const limits = { handshakeMs: 10_000, closeMs: 1_000, pingMs: 30_000, pongMs: 10_000, idleMs: 600_000 };
/** Maximum number of fragments of a message: a host may send large messages in fragments of 4 KiB. */
const maxFragments = 4_096;
const pruneMs = 3_600_000;
/** Timeout for fetching a host's dictionary, in milliseconds. */
const fetchMs = 10_000;

/** Settings of the weather instrument. */
interface WeatherSettings {
  /** URLs of one or two Jetstream hosts, the preferred one first. */
  readonly jetstream: readonly string[];
  /** Directory of the store. It is created if it does not exist. */
  readonly data: string;
  /** Directory of the artifact. It is created if it does not exist. */
  readonly artifacts: string;
  readonly publishSeconds: number;
  readonly backfillHours: number;
  readonly backfillBytes: number;
  /** zstd dictionary for a host of the legacy protocol, or null to read without compression. */
  readonly dictionary: Buffer | null;
  /** True to request compressed frames from a host of `subscribeEvents`, with the host's own dictionary. */
  readonly compress: boolean;
}

/** Dependencies of the weather instrument. */
interface WeatherDeps {
  readonly settings: WeatherSettings;
  readonly policy: AddressPolicy;
  /** `User-Agent` of every handshake. */
  readonly userAgent: string;
  /** Returns the time of this machine's wall clock, in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
  /** Overrides of the default intervals, for tests. */
  readonly pace?: Partial<Pace>;
  readonly faults?: StoreFaults;
}

/** Intervals of the weather instrument, in milliseconds. */
interface Pace {
  /** Interval between commits. A crash discards the events of at most this interval, which are then read again. */
  readonly commitMs: number;
  /** Interval between attempts to write while the disk is full. */
  readonly probeMs: number;
  readonly backoff: Omit<BackoffOptions, 'random'>;
}

const defaultPace: Pace = { commitMs: 1_000, probeMs: 5_000, backoff: { firstMs: 1_000, capMs: 30_000 } };

/** The weather instrument. It has one series for each host and publishes one of them. */
export interface Weather {
  /**
   * Opens the store, writes an artifact, and starts reading. Rejects with OperatorError if the instrument cannot start.
   */
  start(): Promise<void>;
  /** Commits the counts, writes the artifact unless the instrument has failed, and closes the store. */
  stop(): Promise<void>;
  /**
   * Rejects when the instrument cannot continue, because the store is damaged or an unexpected error occurred. Never
   * resolves.
   */
  readonly failed: Promise<never>;
  /** Writes the artifact now. */
  publish(): Promise<void>;
}

/** Creates the weather instrument. It does nothing until `start` is called. */
export function createWeather(deps: WeatherDeps): Weather {
  return new WeatherInstrument(deps);
}

class WeatherInstrument implements Weather {
  readonly failed: Promise<never>;
  readonly #deps: WeatherDeps;
  readonly #pace: Pace;
  readonly #endpoints: readonly Endpoint[];
  readonly #connect: Connect;
  readonly #http: BytesClient;
  readonly #publisher: Publisher;
  readonly #hours = createHoursReader();
  readonly #stopping = new AbortController();
  readonly #reject: (error: unknown) => void;
  /** Store and publication, or null until `start` has opened them. */
  #opened: { readonly store: WindowStore; readonly publication: Publication } | null = null;
  #working: Promise<void> = Promise.resolve();
  #pruning: NodeJS.Timeout | null = null;
  #lastClosed = 0;
  /** Time at which the store was last read for a summary, in microseconds of this machine's wall clock. */
  #readAtUs = 0;
  #hasFailed = false;

  constructor(deps: WeatherDeps) {
    const { settings, policy, userAgent, clock, log, telemetry } = deps;
    this.#deps = deps;
    this.#pace = { ...defaultPace, ...deps.pace };
    this.#endpoints = parseEndpoints(settings.jetstream, policy);
    const { resolve } = createNameResolver({ hostsFile: systemHostsFile });
    this.#connect = (options, signal) =>
      openSocket({ ...limits, policy, userAgent, resolve, maxFrameBytes, maxFragments, ...options }, signal);
    this.#http = createHttpClient({ policy, userAgent, resolve });
    this.#publisher = createPublisher({
      path: join(settings.artifacts, artifactNames.weather),
      publishMs: settings.publishSeconds * 1000,
      hoursPath: join(settings.artifacts, artifactNames.weatherHours),
      read: () => this.#readSummary(),
      readHours: () => this.#readHours(),
      clock,
      log,
      telemetry,
      failed: (error) => this.#fail(error),
    });
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#reject = reject;
    // Avoid an unhandled rejection if no caller awaits the promise: `#fail` logs the error in any case.
    promise.catch(() => undefined);
  }

  publish(): Promise<void> {
    return this.#publisher.now();
  }

  async start(): Promise<void> {
    const { settings, telemetry } = this.#deps;
    makeFolder(settings.artifacts);
    const publication = await this.#openStore();
    this.#prune();
    this.#pruning = setInterval(() => this.#prune(), pruneMs);
    await this.#publisher.now();
    this.#publisher.start();
    const sessions = publication.hosts.flatMap((host, index) => {
      const place = hostPlaces[index] ?? 'second';
      telemetry.hostConnection(place, { isConnected: false, cause: null });
      return this.#sessionsOf(host, telemetryOfHost(telemetry, place));
    });
    this.#working = Promise.all(sessions).then(
      () => undefined,
      (error: unknown) => this.#fail(error),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#pruning) clearInterval(this.#pruning);
    await this.#working;
    await this.#http.close();
    await this.#publisher.stop();
    if (this.#opened && !this.#hasFailed) await this.#publisher.now();
    this.#opened?.store.close();
    this.#deps.log.info('the weather instrument stopped');
  }

  async #openStore(): Promise<Publication> {
    const { settings, faults, clock, log } = this.#deps;
    const store = openWindowStore(settings.data, faults);
    try {
      // The store is locked, so no other process writes the artifact, and its temporary files can be removed.
      await sweepTemporaries(settings.artifacts, [artifactNames.weather, artifactNames.weatherHours], log);
      const publication = createPublication({ store, endpoints: this.#endpoints, startedUs: clock() * 1000, log });
      this.#opened = { store, publication };
      return publication;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  #open(): { readonly store: WindowStore; readonly publication: Publication } {
    if (!this.#opened) throw new Error('the instrument has not been started');
    return this.#opened;
  }

  #readSummary(): ReturnType<Publication['read']> {
    const { clock, telemetry } = this.#deps;
    const { publication } = this.#open();
    this.#readAtUs = clock() * 1000;
    const summary = publication.read(this.#readAtUs);
    const sinceUs = publication.failoverSinceUs();
    telemetry.publishedHost(sinceUs === null ? 'first' : 'second', sinceUs === null ? null : sinceUs / 1000);
    return summary;
  }

  #readHours(): WeatherHours {
    const { store, publication } = this.#open();
    const nowUs = this.#readAtUs;
    const endpoints = publication.series({ from: nowUs - hoursLimits.hours * hourUs, to: nowUs });
    const { silences } = publication;
    const { name, simulated } = publication.published();
    const origin = simulated ? 'simulated' : 'live';
    return this.#hours.read({ store, endpoints, published: name, origin, nowUs, silences });
  }

  #sessionsOf({ endpoint, predecessor, retiring }: ObservedHost, telemetry: WeatherTelemetry): Promise<void>[] {
    const { signal } = this.#stopping;
    const own = this.#observe(endpoint, telemetry, signal);
    if (!predecessor) return [own];
    return [own, this.#observe(predecessor, noTelemetry, AbortSignal.any([signal, retiring.signal]))];
  }

  #observe(endpoint: Endpoint, telemetry: WeatherTelemetry, signal: AbortSignal): Promise<void> {
    const { settings, random, clock, log } = this.#deps;
    const { commitMs, probeMs, backoff } = this.#pace;
    const options = {
      store: this.#open().store,
      endpoint,
      connect: this.#connect,
      dictionaries: this.#dictionariesOf(endpoint),
      random,
      backoff: { ...backoff, random },
      clock,
      log,
      telemetry,
      backfillHours: settings.backfillHours,
      backfillBytes: settings.backfillBytes,
      commitMs,
      probeMs,
      committed: () => this.#committed(),
      notWritten: () => this.#deps.telemetry.notWritten('store'),
    };
    return runSessions(options, signal);
  }

  #dictionariesOf(endpoint: Endpoint): Dictionaries {
    const { settings, clock, log } = this.#deps;
    if (endpoint.wire === 'jetstream.legacy') return givenDictionary(settings.dictionary);
    if (!settings.compress) return givenDictionary(null);
    const bounds = { maxBytes: inputLimits.zstdDictionary.bytes, timeoutMs: fetchMs };
    return fetchedDictionary({
      folder: settings.data,
      endpoint: endpoint.name,
      fetch: (signal) => this.#http.getBytes(dictionaryUrl(endpoint), { ...bounds, signal }),
      clock,
      log,
    });
  }

  #committed(): void {
    const { store, publication } = this.#open();
    const { live } = store.series(publication.published().name);
    const closed = closedEnd(live?.timeUs ?? null, this.#deps.clock() * 1000);
    if (closed > this.#lastClosed) this.#publisher.soon();
    this.#lastClosed = closed;
  }

  #prune(): void {
    const { store, publication } = this.#open();
    try {
      for (const { endpoint, predecessor } of publication.hosts) {
        for (const { name } of predecessor ? [endpoint, predecessor] : [endpoint]) {
          const { id, live } = store.series(name);
          if (live) store.prune(id, keptFrom(this.#deps.clock() * 1000, live.timeUs));
        }
      }
    } catch (error) {
      if (storeFault(error) !== 'full') this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const path = join(this.#deps.settings.data, storeFile);
    const fault = storeFault(error) === 'damaged' ? damaged(path, error instanceof Error ? error.message : '') : error;
    this.#deps.log.error('the weather instrument stopped after an error', errorFields(fault));
    this.#hasFailed = true;
    this.#reject(fault);
    this.#stopping.abort();
  }
}
