import type { Micros } from '../../contract/timestamp.ts';
import type { AddressPolicy } from '../../network/guard/address-policy.ts';
import { registrableDomain } from '../../network/guard/host-rates.ts';
import type { HttpClient } from '../../network/http/http.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { dayOf, dayStart, micros } from '../../store/time.ts';
import { type Clocks, wait } from '../clock/clock.ts';
import { Purges } from '../operator/denials.ts';
import { KeyChanges } from '../repeats/key-changes.ts';
import { type KnownLabeler, priorityInput } from '../roster/known-labeler.ts';
import { labelerCollection } from '../roster/labeler-lists.ts';
import { GapWriter, GroupedCommits } from '../shares/commits.ts';
import { DailyCap } from '../shares/daily-cap.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import { Pace, SourceUsage } from '../shares/pace.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import { Signatures } from '../signatures/signatures.ts';
import { createVerifier, type Verifier } from '../signatures/verifier.ts';
import { type InstrumentRole, isActive } from '../standby/standby-store.ts';
import { isPrivileged, priorityOf, priorityWithLabel } from '../state/reading-state.ts';
import { createOutbound, type Outbound, type Timings } from '../stream/outbound.ts';
import { Preconditions } from './preconditions.ts';

/** Settings of the label instrument. */
export interface LabelsSettings {
  /**
   * Directory of the store; the free space of its disk is monitored. For a remote store: the directory of the local
   * files that accompany the store.
   */
  readonly folder: string;
  /** True if the store is in a database, whose free space is unknown. Default: false. */
  readonly isStoreRemote?: boolean;
  readonly artifacts: string;
  readonly windowDays: number;
  /** DIDs of the seeds file. */
  readonly seeds: readonly string[];
  readonly relays: readonly string[];
  readonly plc: string;
  /**
   * URLs of replicas of the directory, which are requested in turn if the primary does not respond. Default: no
   * replica.
   */
  readonly plcReplicas?: readonly string[];
  /** URL of the Jetstream, or null if labelers are not discovered through a Jetstream. */
  readonly jetstream: string | null;
  /** User agent that is sent with every request and handshake. */
  readonly userAgent: string;
  readonly publishSeconds: number;
  readonly discoverySeconds: number;
  readonly origin: 'live' | 'simulated';
  readonly minFreeBytes: number;
  /**
   * Maximum number of bytes that all sources together may add in a UTC day; null to derive it from the free space of
   * the disk.
   */
  readonly dailyBytes?: number | null;
  /** Maximum number of rows of one source in a day (default 2 million). Tests use a lower limit. */
  readonly maxDailyRows?: number;
  /** Maximum number of sources that are read concurrently (default 5,000). */
  readonly maxLabelers?: number;
  /** Maximum number of open streams of one host (default 32). Further labelers of the host are polled. */
  readonly maxStreamsPerHost?: number;
  readonly timings: Timings;
}

/** Dependencies of the label instrument. */
export interface LabelsOptions {
  readonly settings: LabelsSettings;
  /** The opened store; the instrument closes it. */
  readonly store: StoreWriter;
  readonly policy: AddressPolicy;
  readonly clocks: Clocks;
  readonly random: () => number;
  /**
   * Looks up the TXT records that confirm handles. Default: the system's resolver. With null, no handle is confirmed.
   */
  readonly resolveTxt?: ((name: string, signal: AbortSignal) => Promise<string[][]>) | null;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Role of an instrument that may be a standby; absent if the instrument is always active. */
  readonly role?: InstrumentRole;
}

/**
 * Default maximum number of bytes that are added in a UTC day: about 28 times the 0.29 GB that the network typically
 * adds in a day.
 */
const defaultMaxDailyBytes = 8_000_000_000;

/** Parts of the instrument that exist before it observes: network clients, shares, signatures, clock, disk and purges. */
export interface Foundation extends LabelsOptions {
  readonly outbound: Outbound;
  readonly shares: FairShares;
  readonly verifier: Verifier;
  readonly signatures: Signatures;
  readonly keyChanges: KeyChanges;
  readonly preconditions: Preconditions;
  readonly purges: Purges;
}

/** Expected processor time of one signature check, in milliseconds; measured with libsecp256k1. */
const checkCpuMs = 0.06;

/** Creates the foundation. `labeler` looks up a labeler in the roster, which is created later. */
export function createFoundation(
  options: LabelsOptions,
  labeler: (did: string) => KnownLabeler | undefined,
  signal: AbortSignal,
): Foundation {
  const { settings, store, policy, clocks } = options;
  const clock = clocks.wall;
  const outbound = createOutbound({ ...settings, policy, clock: () => clocks.monotonic() / 1000 });
  const { directory, identities } = outbound;
  const shares = createFairShares({
    ...{ store, clocks, labeler, disk: () => preconditions.disk },
    gapIntervalMs: settings.timings.heartbeatMs,
    maxDailyRows: settings.maxDailyRows,
  });
  const { shareOf, pace } = shares;
  const verifier = createVerifier({
    onChecked: (source, checks) => pace.charge(source, { cpuMs: checks * checkCpuMs }),
  });
  const preconditions = new Preconditions(clocks, {
    folder: settings.folder,
    isRemote: settings.isStoreRemote ?? false,
    minFreeBytes: settings.minFreeBytes,
    maxDailyBytes: settings.dailyBytes ?? defaultMaxDailyBytes,
    isDerived: (settings.dailyBytes ?? null) === null,
    windowDays: settings.windowDays,
    askTime: timeAsker(directory, settings, clock, settings.timings.clockMs, signal, (milliseconds, askedAt) =>
      preconditions.onTrustedTime(milliseconds, askedAt),
    ),
  });
  const keyChanges = new KeyChanges({ store, isComplete: () => isActive(options.role) });
  const keys = new GroupedCommits<LabelerKey, true>({
    ...{ wait, signal, bytesOf: ({ did, key }) => did.length + key.length, shareOf: ({ did }) => shareOf(did) },
    commit: async (changes) => {
      try {
        await store.putKeys(changes);
      } finally {
        // After an error the keys may have been stored nevertheless.
        for (const { did } of changes) keyChanges.forget(did);
      }
      return changes.map(() => true as const);
    },
  });
  const signatures = new Signatures({ identities, verifier, store, clock, shareOf, putKey: (key) => keys.put(key) });
  const purges = new Purges({ store, clock, log: options.log });
  return { ...options, outbound, shares, verifier, signatures, keyChanges, preconditions, purges };
}

/** Dependencies of `createFairShares`. */
interface FairSharesOptions {
  readonly store: StoreWriter;
  readonly clocks: Clocks;
  readonly labeler: (did: string) => KnownLabeler | undefined;
  /** Returns the current budget of the disk. */
  readonly disk: () => Preconditions['disk'];
  /** Minimum interval between two writes of one source's gaps, in milliseconds. */
  readonly gapIntervalMs: number;
  readonly maxDailyRows: number | undefined;
}

/**
 * Maximum number of gaps of a new source. The maximum bounds the cost of a publication, which reads the gaps of all
 * labelers: a labeler can cause a gap with a frame of 30 bytes.
 */
const maxGapsOfNew = 64;

/** Bounds on the resources that one source may use. */
interface FairShares {
  readonly shareOf: (source: string) => ShareKey;
  readonly usage: SourceUsage;
  readonly pace: Pace;
  readonly cap: DailyCap;
  readonly gaps: GapWriter;
  /**
   * Charges each source for its rows of the current day. The roster must be loaded first, because it determines the
   * shares.
   */
  load(now: Micros): Promise<void>;
  /** Stores how many bytes each source added today, so that a restart can load these numbers. */
  keep(): Promise<void>;
}

/** Creates the shares of all sources. */
function createFairShares(options: FairSharesOptions): FairShares {
  const { store, clocks, labeler, disk, maxDailyRows, gapIntervalMs } = options;
  const shareOf = createShareOf(labeler, clocks.wall, priorityOf);
  const usage = new SourceUsage();
  const cap = new DailyCap({
    shareOf: createShareOf(labeler, clocks.wall, priorityWithLabel),
    isNew: (source) => shareOf(source).priority === 'new',
    clock: clocks.wall,
    budgetBytes: () => disk().dailyBytes,
    isTight: () => disk().isTight,
    ...(maxDailyRows === undefined ? {} : { maxRows: maxDailyRows }),
  });
  return {
    ...{ shareOf, usage, cap },
    pace: new Pace({ shareOf, monotonic: clocks.monotonic, wait, usage }),
    gaps: new GapWriter({
      ...{ store, monotonic: clocks.monotonic, minIntervalMs: gapIntervalMs },
      maxGapsOf: (source) => (isPrivileged(shareOf(source).priority) ? undefined : maxGapsOfNew),
    }),
    async load(now) {
      const today = dayOf(now);
      const { floor } = await store.frontier();
      const start = micros(Math.max(floor, dayStart(today)));
      const end = dayStart(today + 1);
      if (start < end) cap.load(await store.countsByLabeler({ start, end }), await store.dailyBytes(today));
    },
    async keep() {
      await store.putDailyBytes(cap.save());
    },
  };
}

/**
 * Returns a function that requests the time from the relays and, with the document of a seed, from the directory. Their
 * responses have a `Date` header.
 * The function starts at most one round of requests in `intervalMs` milliseconds. Calls `onTime` with the upstream's
 * time in milliseconds and the wall-clock time of the request.
 */
function timeAsker(
  http: HttpClient,
  { relays, plc, plcReplicas = [], seeds }: LabelsSettings,
  clock: () => Micros,
  intervalMs: number,
  signal: AbortSignal,
  onTime: (milliseconds: number, requestedAt: Micros) => void,
): () => void {
  const urls = relays.map(
    (relay) => new URL(`/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`, relay),
  );
  const known = seeds.find((did) => did.startsWith('did:plc:'));
  const directories = known === undefined ? [] : [plc, ...plcReplicas];
  for (const directory of directories) urls.push(new URL(`${directory.replace(/\/+$/, '')}/${known}`));
  let lastRound = Number.NEGATIVE_INFINITY;
  return () => {
    if (signal.aborted || performance.now() - lastRound < intervalMs) return;
    lastRound = performance.now();
    for (const url of urls) {
      const requestedAt = clock();
      void http.getJson(url, { maxBytes: 65_536, timeoutMs: 10_000, signal }).then((answer) => {
        if (answer.kind === 'json' && answer.date !== null) onTime(answer.date, requestedAt);
      });
    }
  };
}

/** Maximum number of endpoints whose domains are remembered. */
const maxDomains = 20_000;

/**
 * Returns a function that maps a source to its share, in the class that `classOf` returns. An unknown source is `new` and
 * has a domain of its own.
 */
function createShareOf(
  labeler: (did: string) => KnownLabeler | undefined,
  clock: () => Micros,
  classOf: typeof priorityOf,
): (source: string) => ShareKey {
  const domains = new Map<string, string>();
  const domainOf = (endpoint: string): string => {
    const known = domains.get(endpoint);
    if (known !== undefined) return known;
    const domain = registrableDomain(URL.parse(endpoint)?.host ?? endpoint);
    if (domains.size >= maxDomains) domains.clear();
    domains.set(endpoint, domain);
    return domain;
  };
  return (source) => {
    const known = labeler(source);
    if (!known) return { priority: 'new', domain: source, source };
    const domain = known.endpoint === null ? source : domainOf(known.endpoint);
    return { priority: classOf(priorityInput(known), clock()), domain, source };
  };
}
