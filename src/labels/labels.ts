import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactNames, writeArtifact } from '../artifact/write.ts';
import type { Micros } from '../contract/timestamp.ts';
import type { AddressPolicy } from '../network/address-policy.ts';
import { createHttpClient, type HttpClient } from '../network/http.ts';
import { createIdentityResolver, type IdentityResolver } from '../network/identity.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { StoreError } from '../store/errors.ts';
import type { StoreWriter } from '../store/port.ts';
import { PageAcceptance } from './acceptance.ts';
import type { Clocks } from './clock-watch.ts';
import type { EnrolledSource } from './coverage.ts';
import { RefusedMemory } from './fingerprint.ts';
import { readHold } from './hold.ts';
import { type Obstacles, watchObstacles } from './obstacles.ts';
import { makeOverview } from './overview.ts';
import { readPosition } from './position.ts';
import { listLabelers } from './relay-list.ts';
import type { Rhythm } from './rhythm.ts';
import { Roster } from './roster.ts';
import { followServices, type ServiceEvent, type ServiceEvents } from './service-events.ts';
import { Signatures } from './signatures.ts';
import type { ReaderTools } from './source.ts';
import { downtime, SourceRunner } from './source-runner.ts';
import { type SourceState, sourceStates } from './source-state.ts';
import type { Telemetry } from './telemetry.ts';
import { createVerifier } from './verifier.ts';

/** Settings of the label instrument. */
export interface LabelsSettings {
  /** Folder of the store: its free space is watched. */
  readonly folder: string;
  readonly artifacts: string;
  readonly windowDays: number;
  /** DIDs of the seeds file. */
  readonly seeds: readonly string[];
  readonly relays: readonly string[];
  readonly plc: string;
  /** Null: nothing is discovered by stream. */
  readonly jetstream: string | null;
  readonly publishSeconds: number;
  readonly discoverySeconds: number;
  readonly origin: 'live' | 'simulated';
  readonly minFreeBytes: number;
  readonly rhythm: Rhythm;
}

/** What the label instrument works with. */
export interface LabelsOptions {
  readonly settings: LabelsSettings;
  /** The opened store; the instrument closes it. */
  readonly store: StoreWriter;
  readonly policy: AddressPolicy;
  readonly clocks: Clocks;
  readonly random: () => number;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** The label instrument: finds labelers, observes them, and publishes what it saw. */
export interface Labels {
  /** Resolves once it observes; what it finds comes later. */
  start(): Promise<void>;
  /** Commits what is under way, says when it stopped, and closes the store. */
  stop(): Promise<void>;
  /** Rejects when the store can no longer be trusted, or on a mistake of ours. */
  readonly failed: Promise<never>;
}

const beatMs = 10_000;
const upkeepMs = 300_000;
const cursorNote = 'jetstream-cursor';

/** Makes the instrument; nothing happens before `start`. */
export function createLabels(options: LabelsOptions): Labels {
  return new LabelInstrument(options);
}

class LabelInstrument implements Labels {
  readonly failed: Promise<never>;
  readonly #options: LabelsOptions;
  readonly #stopping = new AbortController();
  readonly #fail: (error: unknown) => void;
  readonly #http: HttpClient;
  readonly #identities: IdentityResolver;
  readonly #verifier = createVerifier();
  readonly #signatures: Signatures;
  readonly #obstacles: Obstacles;
  readonly #acceptance: PageAcceptance;
  readonly #roster: Roster;
  readonly #runner: SourceRunner;
  readonly #tasks: Promise<void>[] = [];
  #services: ServiceEvents | null = null;
  #accepting: Promise<void> = Promise.resolve();
  #askedTimeAt = Number.NEGATIVE_INFINITY;

  constructor(options: LabelsOptions) {
    this.#options = options;
    const { settings, store, policy, clocks, random, log, telemetry } = options;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    // Whoever serves the instrument listens to it; a rejection before that is not lost.
    promise.catch(() => undefined);
    this.#fail = reject;
    const clock = clocks.wall;
    this.#http = createHttpClient({ policy, total: 24, userAgent: 'almanac' });
    this.#identities = createIdentityResolver({
      http: this.#http,
      plcUrl: settings.plc,
      policy,
      clock: () => clock() / 1000,
    });
    this.#signatures = new Signatures({ identities: this.#identities, verifier: this.#verifier, store, clock });
    this.#obstacles = watchObstacles(clocks, {
      folder: settings.folder,
      minFreeBytes: settings.minFreeBytes,
      askTime: () => this.#askTime(),
    });
    this.#acceptance = new PageAcceptance({
      store,
      clock,
      obstacle: () => this.#obstacles.look(),
      wait,
      retryMs: 1_000,
      log,
      telemetry,
      fatal: this.#fail,
    });
    this.#roster = new Roster({
      identities: this.#identities,
      clock,
      wait,
      refreshMs: 86_400_000,
      retryMs: 60_000,
      changed: (member) => {
        this.#signatures.forget(member.did);
        this.#runner.follow(member);
      },
    });
    const epoch: Pick<ReaderTools, 'epoch'> = { epoch: clock() };
    this.#tools = {
      http: this.#http,
      policy,
      accept: (page) => this.#acceptance.accept(page),
      recordGap: (gap) => store.recordGap(gap),
      verify: (did, rows, signal) => this.#signatures.verify(did, rows, signal),
      heardTime: (milliseconds) => this.#obstacles.heardTime(milliseconds),
      doubt: (did) => this.#roster.resolveSoon(did, true),
      refused: new RefusedMemory(),
      ...epoch,
      clock,
      random,
      wait,
      rhythm: settings.rhythm,
      log,
      telemetry,
    };
    this.#runner = new SourceRunner(this.#tools, this.#stopping.signal, this.#fail);
  }
}
