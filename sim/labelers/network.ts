import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountBytes } from '../events/identifiers.ts';
import type { Species } from '../events/metrics.ts';
import { Directory, type DocumentState } from '../identity/directory.ts';
import { Pds } from '../identity/pds.ts';
import { Relay } from '../relay/relay.ts';
import {
  type Declared,
  type DeclaredValues,
  declaration,
  declarationFrame,
  identityChangeFrame,
} from './declarations.ts';
import { Labeler } from './labeler.ts';
import { createPopulation, type LabelerProfile, labelerDid, type Population } from './profile.ts';
import { LabelTruth } from './truth.ts';

/** Interval at which streams receive new labels, in milliseconds of real time. */
const tickMs = 10;
/** Number of labelers that start listening concurrently. */
const startsAtOnce = 50;
/** Number of listed DIDs that do not belong to a labeler. */
const deadDids = 5;

/** Options for a network of labelers. */
export interface LabelerNetworkOptions {
  readonly seed: number;
  readonly host: string;
  /** Returns the address of each labeler; by default `host`. */
  readonly labelerHost?: (index: number) => string;
  readonly labelers: number;
  readonly labelRate: number;
  readonly population: Population;
  readonly relays: number;
  readonly replicas: number;
  readonly historyHours: number;
  readonly nowUs: () => number;
  readonly shape?: (profile: LabelerProfile) => Partial<LabelerProfile>;
  /**
   * Replaces the next events of the Jetstream with frames. Returns the time of the last one, in microseconds. Null if the
   * Jetstream serves recorded frames.
   */
  readonly announce: ((frames: readonly { readonly text: string; readonly species: Species }[]) => number) | null;
}

/** Addresses of the labelers and of the services that list them. */
interface LabelerAddresses {
  readonly plc: string;
  readonly plcReplicas: readonly string[];
  readonly relays: readonly string[];
  readonly labelers: readonly { readonly did: string; readonly endpoint: string }[];
  /** Path of the seeds file, which `stop` removes. */
  readonly seeds: string;
}

/** All labelers, the directory with their documents, and the relays that list them. */
export class LabelerNetwork {
  /** Labelers by volume, largest first. */
  readonly list: readonly Labeler[];
  readonly directory: Directory;
  /** Replicas of the directory. `freeze` makes a replica lag. */
  readonly replicas: readonly Directory[];
  /** Server that hosts the labelers' records. */
  readonly pds: Pds;
  readonly relays: readonly Relay[];
  /** Record of the emitted and the delivered labels. */
  readonly truth: LabelTruth;
  readonly #options: LabelerNetworkOptions;
  #tick: NodeJS.Timeout | null = null;
  #folder: string | null = null;
  /** Time of the last announcement, in microseconds. */
  #announcedThroughUs = 0;

  constructor(options: LabelerNetworkOptions) {
    this.#options = options;
    const { seed, nowUs, historyHours, relays, replicas } = options;
    this.pds = new Pds(nowUs);
    const createDirectory = (): Directory => new Directory(nowUs, () => this.pds.origin);
    this.directory = createDirectory();
    this.replicas = Array.from({ length: replicas }, createDirectory);
    this.relays = Array.from({ length: relays }, () => new Relay(nowUs));
    const accounts = Buffer.from(accountBytes(seed)).toString('latin1');
    const startUs = nowUs() - historyHours * 3_600_000_000;
    const ownDocument = (did: string): Promise<unknown> => this.directory.document(did);
    this.list = createPopulation(options).map(
      (profile) => new Labeler({ seed, profile, startUs, accounts, nowUs, ownDocument }),
    );
    this.truth = new LabelTruth(this.list);
  }

  /** Returns the labeler with a DID. Throws a RangeError if no labeler has the DID. */
  of(did: string): Labeler {
    const found = this.list.find((labeler) => labeler.did === did);
    if (found === undefined) throw new RangeError(`unknown labeler ${did}`);
    return found;
  }

  /** Starts all listeners. Rejects with the system's error on failure. */
  async start(): Promise<LabelerAddresses> {
    const { host, labelerHost = () => host } = this.#options;
    for (let from = 0; from < this.list.length; from += startsAtOnce) {
      await Promise.all(
        this.list.slice(from, from + startsAtOnce).map((labeler) => labeler.start(labelerHost(labeler.profile.index))),
      );
    }
    for (const directory of [this.directory, ...this.replicas])
      for (const labeler of this.list) directory.enter(labeler, documentState(labeler.profile));
    this.#list();
    for (const { did, record } of this.list) this.pds.records.set(did, declaration(record));
    await this.pds.start(host);
    const plc = await this.directory.start(host);
    const plcReplicas = await Promise.all(this.replicas.map((replica) => replica.start(host)));
    const relays = await Promise.all(this.relays.map((relay) => relay.start(host)));
    this.#tick = setInterval(() => this.pump(), tickMs);
    this.#folder = await mkdtemp(join(tmpdir(), 'almanac-sim-'));
    const seeds = join(this.#folder, 'seeds.json');
    const seeded = this.list.filter(({ profile }) => profile.seeded);
    await writeFile(seeds, `${JSON.stringify(seeded.map(({ did }) => ({ did })))}\n`);
    // Announce the labelers that no list contains, if the Jetstream permits it.
    const unlisted = this.list.filter(
      ({ profile }) => !profile.seeded && profile.relays.length === 0 && profile.unannounced !== true,
    );
    if (this.#options.announce !== null)
      this.#announce(unlisted.map(({ did, record }) => declarationOf(did, record, 'create')));
    const labelers = this.list.map(({ did, endpoint }) => ({ did, endpoint }));
    return { plc, plcReplicas, relays, labelers, seeds };
  }

  /** Sends new labels to every consumer, without waiting for the next tick. */
  pump(): void {
    for (const labeler of this.list) labeler.pump();
  }

  /**
   * Announces on the Jetstream that a labeler created, updated or deleted its declaration. After a creation, the relays
   * list the labeler. Throws if the Jetstream serves recorded frames.
   */
  declare(did: string, operation: Declared = 'create'): void {
    this.#announce([declarationOf(did, this.of(did).record, operation)]);
    if (operation === 'create') for (const { dids } of this.relays) if (!dids.includes(did)) dids.push(did);
  }

  /** Replaces a labeler's record and announces it on the Jetstream. */
  redefine(did: string, record: DeclaredValues): void {
    this.of(did).records.push({ ...record, sinceUs: this.#options.nowUs() });
    this.pds.records.set(did, declaration(record));
    this.declare(did, 'update');
  }

  /** True while announcements wait for the events in whose place they are sent. */
  get isAnnouncing(): boolean {
    return this.#announcedThroughUs > this.#options.nowUs();
  }

  /** Announces an identity change of a labeler on the Jetstream. */
  announceIdentity(did: string): void {
    const species: Species = { outcome: 'event', collection: null, metrics: ['identity.event'] };
    this.#announce([{ text: identityChangeFrame(did), species }]);
  }

  /** Stops all parts of the network and removes the seeds file. */
  async stop(): Promise<void> {
    if (this.#tick) clearInterval(this.#tick);
    await Promise.all([
      ...this.list.map((labeler) => labeler.stop()),
      ...[this.directory, ...this.replicas].map((directory) => directory.stop()),
      this.pds.stop(),
      ...this.relays.map((relay) => relay.stop()),
    ]);
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  #list(): void {
    for (const { did, profile } of this.list) for (const relay of profile.relays) this.relays[relay]?.dids.push(did);
    if (this.#options.population === 'plain') return;
    for (const [at, { dids }] of this.relays.entries()) {
      for (let dead = 0; dead < deadDids; dead++) {
        dids.splice((dead * 13 + at) % (dids.length + 1), 0, labelerDid(this.#options.seed, 1_000_000 + dead + at));
      }
    }
  }

  #announce(frames: readonly { readonly text: string; readonly species: Species }[]): void {
    if (frames.length === 0) return;
    if (this.#options.announce === null)
      throw new Error('recorded frames are served verbatim, so nothing can be announced');
    this.#announcedThroughUs = this.#options.announce(frames);
  }
}

function declarationOf(did: string, record: DeclaredValues, operation: Declared): { text: string; species: Species } {
  return {
    text: declarationFrame(did, record, operation),
    species: { outcome: 'event', collection: 'app.bsky.labeler.service', metrics: ['untracked.collection'] },
  };
}

function documentState({ ailment }: LabelerProfile): DocumentState {
  if (ailment === 'no_document' || ailment === 'tombstone' || ailment === 'no_service') return ailment;
  return ailment === 'directory_down' ? 'html' : 'whole';
}
