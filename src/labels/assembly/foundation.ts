import type { Micros } from '../../contract/timestamp.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { type HostRate, registrableDomain } from '../../network/guard/host-rates.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';
import { createHttpClient, type HttpClient } from '../../network/http/http.ts';
import { createIdentityResolver, type IdentityResolver } from '../../network/identity/identity.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { dayOf, dayStart, micros } from '../../store/time.ts';
import { type Clocks, wait } from '../clock/clock.ts';
import { Purges } from '../operator/denials.ts';
import { GapWriter } from '../publish/gap-writer.ts';
import { enrolledLimits, type KnownLabeler, priorityInput } from '../roster/known-labeler.ts';
import { labelerCollection } from '../roster/labeler-lists.ts';
import { DailyCap } from '../shares/daily-cap.ts';
import type { ShareKey } from '../shares/fair-queue.ts';
import { GroupedCommits } from '../shares/grouped-commits.ts';
import { Pace, SourceUsage } from '../shares/pace.ts';
import { Signatures } from '../signatures/signatures.ts';
import { createVerifier, type Verifier } from '../signatures/verifier.ts';
import { isPrivileged, priorityOf } from '../state/reading-state.ts';
import { createStreamOpener, type OpenStream, type Timings } from '../stream/open-stream.ts';
import type { LabelsOptions } from './options.ts';
import { type DiskBudget, type Preconditions, watchPreconditions } from './preconditions.ts';

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
  const outbound = createOutbound({ ...settings, policy, clock: () => clock() / 1000 });
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
  const preconditions = watchPreconditions(clocks, {
    folder: settings.folder,
    isRemote: settings.isStoreRemote ?? false,
    minFreeBytes: settings.minFreeBytes,
    maxDailyBytes: settings.dailyBytes ?? defaultMaxDailyBytes,
    isDerived: (settings.dailyBytes ?? null) === null,
    windowDays: settings.windowDays,
    askTime: timeAsker(
      directory,
      { ...settings, dids: settings.seeds },
      clock,
      settings.timings.clockMs,
      signal,
      (milliseconds, askedAt) => preconditions.onTrustedTime(milliseconds, askedAt),
    ),
  });
  const keys = new GroupedCommits<LabelerKey, true>({
    ...{ wait, signal, bytesOf: ({ did, key }) => did.length + key.length, shareOf: ({ did }) => shareOf(did) },
    commit: async (changes) => {
      await store.putKeys(changes);
      return changes.map(() => true as const);
    },
  });
  const signatures = new Signatures({ identities, verifier, store, clock, shareOf, putKey: (key) => keys.put(key) });
  const purges = new Purges({ store, clock, log: options.log });
  return { ...options, outbound, shares, verifier, signatures, preconditions, purges };
}

/** Dependencies of `createFairShares`. */
interface FairSharesOptions {
  readonly store: StoreWriter;
  readonly clocks: Clocks;
  readonly labeler: (did: string) => KnownLabeler | undefined;
  /** Returns the current budget of the disk. */
  readonly disk: () => DiskBudget;
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
  const shareOf = createShareOf(labeler, clocks.wall);
  const usage = new SourceUsage();
  const cap = new DailyCap({
    ...{ shareOf, clock: clocks.wall },
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

/** Addresses of the hosts whose responses give the time. */
interface TimeSources {
  readonly relays: readonly string[];
  /** URL of the did:plc directory. */
  readonly plc: string;
  /** URLs of replicas of the directory. */
  readonly plcReplicas?: readonly string[];
  /** DIDs that the directory contains. */
  readonly dids: readonly string[];
}

/**
 * Returns a function that requests the time from the relays and the directory, whose responses have a `Date` header.
 * The function starts at most one round of requests in `intervalMs` milliseconds. Calls `onTime` with the upstream's
 * time in milliseconds and the wall-clock time of the request.
 */
function timeAsker(
  http: HttpClient,
  { relays, plc, plcReplicas = [], dids }: TimeSources,
  clock: () => Micros,
  intervalMs: number,
  signal: AbortSignal,
  onTime: (milliseconds: number, requestedAt: Micros) => void,
): () => void {
  const urls = relays.map(
    (relay) => new URL(`/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`, relay),
  );
  const known = dids.find((did) => did.startsWith('did:plc:'));
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

/** Returns a function that maps a source to its share. An unknown source is `new` and has a domain of its own. */
function createShareOf(
  labeler: (did: string) => KnownLabeler | undefined,
  clock: () => Micros,
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
    return { priority: priorityOf(priorityInput(known), clock()), domain, source };
  };
}

/** Dependencies of the instrument's network clients. */
interface OutboundOptions {
  readonly policy: AddressPolicy;
  readonly plc: string;
  readonly plcReplicas?: readonly string[];
  /** User agent that is sent with every request and handshake. */
  readonly userAgent: string;
  readonly timings: Timings;
  /** Maximum number of open streams of one host and port (default 32). */
  readonly maxStreamsPerHost?: number | undefined;
  /** Maximum number of sources that are read at once (default 5,000). */
  readonly maxEnrolled?: number | undefined;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}

/**
 * Network clients, separate for untrusted and for configured hosts, so that untrusted hosts can exhaust only the
 * resources of their own client.
 */
interface Outbound {
  /** Client for untrusted hosts: pages of labels, records, handles. */
  readonly http: HttpClient;
  /** Client for hosts that the operator configured: the did:plc directory and the relays. */
  readonly directory: HttpClient;
  /** Resolves host names that the operator configured. */
  readonly resolveOwn: Resolve;
  readonly identities: IdentityResolver;
  readonly streams: Slots;
  readonly openStream: OpenStream;
  resolveTxt(name: string, signal: AbortSignal): Promise<string[][]>;
  close(): Promise<void>;
}

/**
 * Maximum concurrent requests for pages. Each request uses a socket and at most 256 KiB of a body; a larger body
 * requires a separate permit. Half of the requests are reserved for privileged sources. Hosts that are slow or have
 * never responded share 48 requests for new sources and 32 for privileged sources. A limit of 24 was too low: 150 hosts
 * that responded after 28 s occupied every slot.
 */
const pages = { total: 128, perHost: 4, perDomain: 32, perSource: 4, reserved: 64, unproven: 48, slowPrivileged: 32 };

/**
 * Maximum concurrent handshakes of streams. Each handshake occupies a socket, and times out after 15 s without a
 * response.
 */
const handshakes = { total: 256, perHost: 8, perDomain: 64, reserved: 96, unproven: 128, slowPrivileged: 64 };

/**
 * Maximum rate of decoded bytes from one registrable domain for new sources: a compressed response may expand to 64
 * times its size, and reading 1 MB takes up to 200 ms of processor time.
 */
const decodedRate: HostRate = { perSecond: 1_000_000, burst: 64_000_000 };

/** Maximum concurrent requests for did:web documents, whose hosts are untrusted. */
const webDocuments = { total: 48, perHost: 2, perDomain: 4, reserved: 16, unproven: 24, slowPrivileged: 8 };
const webTimeoutMs = 5_000;

/**
 * Maximum numbers of page requests and of handshakes for one host per poll interval, excluding those of privileged
 * sources. The document of any DID may name the host of another labeler. 60 documents that named one host caused 30
 * requests a second; common servers allow a client 10 requests a second, and reject all requests of a faster client.
 */
const perPoll = { pages: 60, handshakes: 15 };
/** Maximum numbers of page requests and of handshakes that a host accumulates while it is idle. */
const hostBursts = { pages: 100, handshakes: 32 };

/**
 * Maximum rate of requests to one directory or relay, excluding those for privileged sources. Any account can cause a
 * look-up of its document once a minute. If these look-ups made the directory reject all requests, the keys of honest
 * labelers could not be read.
 */
const ownHostRate: HostRate = { perSecond: 25, burst: 2_000 };

/**
 * Maximum number of streams of new sources to one host; further new labelers of the host are polled. A stranger's
 * document may name the host of another labeler, which would otherwise have to serve an idle stream for each such
 * document.
 */
const newStreamsPerHost = 4;
/**
 * Maximum number of streams of new sources to one registrable domain, because all names below the domain may resolve
 * to one machine.
 */
const newStreamsPerDomain = 32;
/**
 * Maximum number of streams to one registrable domain; further labelers of the domain are polled. Honest platforms host
 * hundreds of labelers.
 */
const streamsPerDomain = 256;
/** Maximum streams of all new sources; streams of privileged sources are bounded by the enrolment limit. */
const maxNewStreams = 2_000;

/**
 * Maximum number of concurrent look-ups of untrusted host names. The maximum exceeds the total number of concurrent
 * requests and handshakes, so that no request or handshake waits for a look-up slot.
 */
const names = { total: 512, perDomain: 64 };

/** Creates the clients, slots and resolvers of one instrument. Opens no connection. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { policy, plc, plcReplicas = [], userAgent, timings, clock } = options;
  const { maxStreamsPerHost = 32, maxEnrolled = enrolledLimits.default } = options;
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, ...names });
  const rateOf = (kind: keyof typeof perPoll): HostRate => ({
    perSecond: (perPoll[kind] * 1_000) / timings.pollMs,
    burst: hostBursts[kind],
  });
  const shared = { policy, decodedRate, resolve: strangers.resolve, userAgent };
  const http = createHttpClient({ ...shared, ...pages, hostRate: rateOf('pages') });
  const directory = createHttpClient({
    ...{ policy, total: 24, reserved: 8, hostRate: ownHostRate, resolve: own.resolve, userAgent },
  });
  const web = createHttpClient({ ...shared, ...webDocuments });
  return {
    http,
    directory,
    resolveOwn: own.resolve,
    identities: createIdentityResolver({
      http: directory,
      web: { http: web, timeoutMs: webTimeoutMs },
      plcUrl: plc,
      plcReplicas,
      policy,
      clock,
    }),
    streams: createSlots({
      ...{ perHost: maxStreamsPerHost, perDomain: streamsPerDomain, maxWaiting: 0 },
      ...{ perNewHost: newStreamsPerHost, perNewDomain: newStreamsPerDomain },
      ...{ total: maxEnrolled + maxNewStreams, reserved: maxEnrolled },
    }),
    openStream: createStreamOpener({
      ...{ policy, userAgent, resolve: strangers.resolve, timings },
      handshakes: createSlots({
        ...handshakes,
        hostRate: rateOf('handshakes'),
        maxWaiting: Math.max(8_192, maxEnrolled),
      }),
    }),
    resolveTxt: strangers.resolveTxt,
    async close() {
      await Promise.all([http.close(), directory.close(), web.close()]);
    },
  };
}
