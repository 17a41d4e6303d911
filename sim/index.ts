import { readFileSync } from 'node:fs';
import type { Clock } from './clock.ts';
import { GeneratedSource } from './events/generated.ts';
import { RecordedSource } from './events/recorded.ts';
import { Faults } from './jetstream/faults.ts';
import { JetstreamServer } from './jetstream/server.ts';
import { LabelerNetwork, type LabelerNetworkOptions } from './labelers/network.ts';
import type { LabelerProfile, Population } from './labelers/profile.ts';
import { Truth } from './truth.ts';

/** Options of a simulated network. Every option has a working default. */
export interface SimOptions {
  /** The same seed gives the same bytes. Default 1. */
  readonly seed?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Port of the Jetstream; 0, the default, takes a free one. */
  readonly port?: number;
  /** Mean events a second over a day. Default 330. */
  readonly rate?: number;
  /** Maximum age of replayed events, in hours. Default 24. */
  readonly historyHours?: number;
  /** A file of recorded frames, one a line, served verbatim and in its order instead of generated ones. */
  readonly replay?: string;
  /** Recorded frames happen one by one, at `rate`, from the start on (`live`, the default), or have all happened. */
  readonly replayAs?: 'live' | 'history';
  /** The simulated clock. Default Date.now. */
  readonly clock?: Clock;
  /** This host's traffic as a multiple of `rate`: hosts differ. Default 1. */
  readonly endpointFactor?: number;
  /** Frames carry `cursor`, a sequence number, and cursors below 1e15 are such numbers. Default false. */
  readonly seqCursors?: boolean;
  /** Compression is offered with this zstd dictionary; `compress=true` is refused unless given. */
  readonly zstdDictionary?: Buffer;
  /** The host serves the method beside the legacy wire, as those of the second version do. Default true. */
  readonly hasMethod?: boolean;
  /** Share of the creates and updates older than four hours that a replay lacks. Default 0. */
  readonly compactedShare?: number;
  /** Keys of frames in any order. Default false. */
  readonly variedKeys?: boolean;
  /** Number of labelers. Default 0: no directory, no relay, no labeler. */
  readonly labelers?: number;
  /** Labels a second of all labelers. Default 20. */
  readonly labelRate?: number;
  /** `plain`, the default: all labelers are well. `troubled`: with the troubles of the network. */
  readonly population?: Population;
  /** The loopback address that each labeler listens on, by its rank. Default `host`. */
  readonly labelerHost?: (index: number) => string;
  /** Number of relays that list them. Default 2. */
  readonly relays?: number;
  /** Changes what a labeler is like; for tests. */
  readonly shapeLabeler?: (profile: LabelerProfile) => Partial<LabelerProfile>;
}

/** Addresses of the simulated network. */
export interface SimAddresses {
  /** Address of the Jetstream's `/subscribe`. */
  readonly jetstream: string;
  /** Address of the same host without a path: consumers of the method ask it there. */
  readonly jetstreamHost: string;
  /** Origin of the identity directory; null without labelers. */
  readonly plc: string | null;
  /** Origins of the relays. */
  readonly relays: readonly string[];
  readonly labelers: readonly { readonly did: string; readonly endpoint: string }[];
  /** Path of a seeds file that `stop` removes; null without labelers. */
  readonly seeds: string | null;
}

/** A simulated network. */
export interface Sim {
  /** Fault switches, for connections that are open and for those to come. */
  readonly faults: Faults;
  /** Record of all events and deliveries. */
  readonly truth: Truth;
  /** The labelers, and who names them. Their truth is told there. */
  readonly labelers: LabelerNetwork;
  /** Listens; rejects with the system's error when it cannot. */
  start(): Promise<SimAddresses>;
  /** Asks the consumers of the method for a pong now, as the host does every half minute. */
  askForPongs(): void;
  /** Sends at once what the clock has made due, as every tick does. */
  pump(): void;
  /** Says goodbye to every consumer and closes every socket. */
  stop(): Promise<void>;
}

/** Creates a simulated network; nothing listens before `start`. */
export function createSim(options: SimOptions = {}): Sim {
  const { seed = 1, host = '127.0.0.1', port = 0, clock = Date.now, seqCursors = false, variedKeys = false } = options;
  const nowUs = (): number => Math.floor(clock() * 1000);
  const rate = (options.rate ?? 330) * (options.endpointFactor ?? 1);
  const style = { seqCursors, variedKeys };
  const generated =
    options.replay === undefined
      ? new GeneratedSource({ seed, rate, historyHours: options.historyHours ?? 24, ...style })
      : null;
  const source =
    generated ??
    new RecordedSource({
      frames: readFrames(options.replay ?? ''),
      as: options.replayAs ?? 'live',
      rate,
      startUs: nowUs(),
    });
  const truth = new Truth(source);
  const server = new JetstreamServer({
    host,
    port,
    source,
    seqCursors,
    zstdDictionary: options.zstdDictionary ?? null,
    hasMethod: generated !== null && (options.hasMethod ?? true),
    compactedShare: options.compactedShare ?? 0,
    truth,
    nowUs,
  });
  const faults = new Faults({
    source,
    generated,
    style,
    seed,
    truth,
    connections: () => server.connections,
    nowUs,
  });
  server.meet(faults);
  const labelers = new LabelerNetwork({
    seed,
    host,
    ...(options.labelerHost ? { labelerHost: options.labelerHost } : {}),
    labelers: options.labelers ?? 0,
    labelRate: options.labelRate ?? 20,
    population: options.population ?? 'plain',
    relays: options.relays ?? 2,
    historyHours: options.historyHours ?? 24,
    nowUs,
    ...(options.shapeLabeler ? { shape: options.shapeLabeler } : {}),
    announce: generated === null ? null : announcer(generated, nowUs),
  });
  return {
    faults,
    truth,
    labelers,
    async start() {
      const listening = await server.start();
      const jetstreamHost = `ws://${host.includes(':') ? `[${host}]` : host}:${listening}`;
      const streams = { jetstream: `${jetstreamHost}/subscribe`, jetstreamHost };
      if (labelers.list.length === 0) return { ...streams, plc: null, relays: [], labelers: [], seeds: null };
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

/** Puts frames in the place of the next events, behind those that it has put there before. */
function announcer(source: GeneratedSource, nowUs: () => number): NonNullable<LabelerNetworkOptions['announce']> {
  let free = 0;
  return (frames) => {
    const templates = frames.map(({ text, species }) => source.catalogue.add(text, species));
    const from = Math.max(free, source.edge(nowUs()));
    source.replace(from, templates);
    free = from + templates.length;
  };
}

function readFrames(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}
