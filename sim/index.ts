import { readFileSync } from 'node:fs';
import type { Clock } from './clock.ts';
import { beginWithDownload } from './events/download.ts';
import type { FrameStyle } from './events/frames.ts';
import { GeneratedSource } from './events/generated.ts';
import { RecordedSource } from './events/recorded.ts';
import { Faults } from './jetstream/faults.ts';
import { JetstreamServer } from './jetstream/server.ts';
import { LabelerNetwork, type LabelerNetworkOptions } from './labelers/network.ts';
import type { LabelerProfile, Population } from './labelers/profile.ts';
import { Truth } from './truth.ts';

/** Default timeout of `subscribeEvents` for a write and for a pong, in milliseconds. */
export const patienceMs = 5_000;

/** Options for a simulated network. Every option has a usable default. */
export interface SimOptions {
  /** Seed of the traffic. The same seed yields the same bytes. Default 1. */
  readonly seed?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Port of the Jetstream. The default, 0, selects a free port. */
  readonly port?: number;
  /** Mean events per second over a day. Default 330. */
  readonly rate?: number;
  /** Maximum age of replayed events, in hours. Default 24. */
  readonly historyHours?: number;
  /**
   * Size of the cache for encoded events, in megabytes. Events outside the cache are encoded at each use. Default 32.
   */
  readonly cacheMegabytes?: number;
  /**
   * Path of a file with recorded frames, one per line. The host serves them verbatim in file order instead of generated
   * frames.
   */
  readonly replay?: string;
  /**
   * `live` (default): recorded events occur one by one at `rate` after the network starts. `history`: all recorded
   * events occurred before the network starts.
   */
  readonly replayAs?: 'live' | 'history';
  /** The simulated clock. Default Date.now. */
  readonly clock?: Clock;
  /** Factor by which this host's traffic differs from `rate`. Default 1. */
  readonly endpointFactor?: number;
  /**
   * True if frames contain `cursor`, a sequence number. Cursors below 1e15 are then sequence numbers. Default false.
   */
  readonly seqCursors?: boolean;
  /** Dictionary for zstd compression. Without a dictionary, `compress=true` is refused. */
  readonly zstdDictionary?: Buffer;
  /**
   * True if the host serves `subscribeEvents` in addition to the legacy protocol, as hosts of the second version do.
   * Default true. A host that replays a file serves only the legacy protocol.
   */
  readonly hasMethod?: boolean;
  /**
   * Number of rows of a download of the repositories with which the history begins, as on a new host. Default 0.
   */
  readonly downloadedRows?: number;
  /**
   * True if `subscribeEvents` is that of Jetstream's commit `9a30def`: its frames have no `witnessedAt`, and a cursor in
   * the future begins at the present without a notice. Default false: the form of the public hosts.
   */
  readonly isUnwitnessed?: boolean;
  /** Share of the creates and updates older than four hours that a replay omits, from 0 to 1. Default 0. */
  readonly compactedShare?: number;
  /**
   * Timeout of `subscribeEvents` in milliseconds of real time. The host ends the socket of a consumer that does not
   * read, or does not respond to a ping, in time; null for no timeout. Default 5,000, as on the public hosts.
   */
  readonly patienceMs?: number | null;
  /** True if the keys of frames are in a random order. Default false. */
  readonly variedKeys?: boolean;
  /** Number of labelers. With the default, 0, neither a directory nor relays are started. */
  readonly labelers?: number;
  /** Total number of labels per second. Default 20. */
  readonly labelRate?: number;
  /**
   * Condition of the labelers. `plain` (default): all labelers work. `troubled`: labelers have the same faults as on
   * the live network.
   */
  readonly population?: Population;
  /** Returns the loopback address of a labeler by its rank. By default, all labelers use `host`. */
  readonly labelerHost?: (index: number) => string;
  /** Number of relays that list the labelers. Default 2. */
  readonly relays?: number;
  /** Number of replicas of the identity directory. Default 0. */
  readonly replicas?: number;
  /** Adjusts the profile of a labeler. */
  readonly shapeLabeler?: (profile: LabelerProfile) => Partial<LabelerProfile>;
}

/** Addresses of the simulated network. */
export interface SimAddresses {
  /** Address of the Jetstream's `/subscribe`. */
  readonly jetstream: string;
  /** Address of the same host without a path, for consumers of `subscribeEvents`. */
  readonly jetstreamHost: string;
  /** Origin of the identity directory; null without labelers. */
  readonly plc: string | null;
  /** Origins of the directory's replicas. */
  readonly plcReplicas: readonly string[];
  /** Origins of the relays. */
  readonly relays: readonly string[];
  readonly labelers: readonly { readonly did: string; readonly endpoint: string }[];
  /** Path of the seeds file, which `stop` removes; null without labelers. */
  readonly seeds: string | null;
}

/** A simulated network. */
export interface Sim {
  /** Switches for faults of current and future connections. */
  readonly faults: Faults;
  /** Record of all events and deliveries. */
  readonly truth: Truth;
  /** The labelers and the services that list them, with their own record of labels. */
  readonly labelers: LabelerNetwork;
  /** Starts listening. Rejects with the system's error on failure. */
  start(): Promise<SimAddresses>;
  /** Sends a ping to each consumer of `subscribeEvents`. A real host does this every 30 seconds. */
  askForPongs(): void;
  /** Sends all events that are due, without waiting for the next tick. */
  pump(): void;
  /** Sends a close frame to every consumer of the Jetstream, closes every socket and removes the seeds file. */
  stop(): Promise<void>;
}

/** Creates a simulated network. It does not listen until `start` is called. */
export function createSim(options: SimOptions = {}): Sim {
  const { seed = 1, host = '127.0.0.1', clock = Date.now, seqCursors = false } = options;
  const nowUs = (): number => Math.floor(clock() * 1000);
  const { source, generated } = sourceOf(options, nowUs);
  const truth = new Truth(source);
  const server = new JetstreamServer({
    host,
    port: options.port ?? 0,
    source,
    seqCursors,
    zstdDictionary: options.zstdDictionary ?? null,
    hasMethod: generated !== null && (options.hasMethod ?? true),
    compactedShare: options.compactedShare ?? 0,
    announcesFuture: options.isUnwitnessed !== true,
    patienceMs: options.patienceMs === undefined ? patienceMs : options.patienceMs,
    truth,
    nowUs,
  });
  const connections = () => server.connections;
  const faults = new Faults({ source, generated, style: styleOf(options), seed, truth, connections, nowUs });
  server.meet(faults);
  const labelers = labelersOf(options, generated, nowUs);
  return {
    faults,
    truth,
    labelers,
    async start() {
      const listening = await server.start();
      const jetstreamHost = `ws://${host.includes(':') ? `[${host}]` : host}:${listening}`;
      const streams = { jetstream: `${jetstreamHost}/subscribe`, jetstreamHost };
      const none = { plc: null, plcReplicas: [], relays: [], labelers: [], seeds: null };
      if (labelers.list.length === 0) return { ...streams, ...none };
      return { ...streams, ...(await labelers.start()) };
    },
    pump() {
      server.pump();
      labelers.pump();
    },
    askForPongs() {
      server.askForPongs();
    },
    async stop() {
      await Promise.all([server.stop(), labelers.stop()]);
    },
  };
}

function styleOf({ seqCursors = false, variedKeys = false, isUnwitnessed = false }: SimOptions): FrameStyle {
  return { seqCursors, variedKeys, unwitnessed: isUnwitnessed };
}

/** Returns the event source: generated traffic or a recording. */
function sourceOf(options: SimOptions, nowUs: () => number) {
  const { seed = 1, historyHours = 24, replay, replayAs = 'live' } = options;
  const rate = (options.rate ?? 330) * (options.endpointFactor ?? 1);
  if (replay === undefined) {
    const cache = options.cacheMegabytes === undefined ? {} : { cacheMegabytes: options.cacheMegabytes };
    const style = styleOf(options);
    const generated = new GeneratedSource({ seed, rate, historyHours, ...style, ...cache });
    const rows = options.downloadedRows ?? 0;
    if (rows > 0) beginWithDownload(generated, { style, seed, rows, nowUs: nowUs() });
    return { source: generated, generated };
  }
  const recorded = new RecordedSource({ frames: readFrames(replay), as: replayAs, rate, startUs: nowUs() });
  return { source: recorded, generated: null };
}

function labelersOf(options: SimOptions, generated: GeneratedSource | null, nowUs: () => number): LabelerNetwork {
  return new LabelerNetwork({
    seed: options.seed ?? 1,
    host: options.host ?? '127.0.0.1',
    ...(options.labelerHost ? { labelerHost: options.labelerHost } : {}),
    labelers: options.labelers ?? 0,
    labelRate: options.labelRate ?? 20,
    population: options.population ?? 'plain',
    relays: options.relays ?? 2,
    replicas: options.replicas ?? 0,
    historyHours: options.historyHours ?? 24,
    nowUs,
    ...(options.shapeLabeler ? { shape: options.shapeLabeler } : {}),
    announce: generated === null ? null : announcer(generated, nowUs),
  });
}

/**
 * Returns a function that replaces the next events with frames. The replacement begins after all events that earlier
 * calls replaced. The function returns the time of the last replaced event, in microseconds.
 */
function announcer(source: GeneratedSource, nowUs: () => number): NonNullable<LabelerNetworkOptions['announce']> {
  let free = 0;
  return (frames) => {
    const templates = frames.map(({ text, species }) => source.catalogue.add(text, species));
    const from = Math.max(free, source.edge(nowUs()));
    source.replace(from, templates);
    free = from + templates.length;
    const { first, timeUs } = source.plan(free - 1);
    return timeUs[free - 1 - first] ?? 0;
  };
}

function readFrames(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}
