import { createSecureContext } from 'node:tls';
import { inputLimits } from '../../input/limits.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { HostRate } from '../../network/guard/host-rates.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';
import { createHttpClient, type HttpClient, type Peer } from '../../network/http/http.ts';
import { createIdentityResolver, type IdentityResolver } from '../../network/identity/identity.ts';
import { ConnectError, type GuardedSocket, openSocket, type SocketOptions } from '../../network/websocket/websocket.ts';
import { type LookupDelays, liveLookupDelays } from '../roster/resolution-queue.ts';
import { labelerLimits } from '../state/reading-state.ts';

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
  readonly maxLabelers?: number | undefined;
  /** Monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

/**
 * Network clients, separate for untrusted and for configured hosts, so that untrusted hosts can exhaust only the
 * resources of their own client.
 */
export interface Outbound {
  /** Client for untrusted hosts: pages of labels, records, handles. */
  readonly http: HttpClient;
  /** Client for hosts that the operator configured: the did:plc directory and the relays. */
  readonly directory: HttpClient;
  /** Resolves host names that the operator configured. */
  readonly resolveOwn: Resolve;
  readonly identities: IdentityResolver;
  /**
   * Slots for stream connections, limited per host and per registrable domain, because many labelers may share
   * either.
   */
  readonly streams: Slots;
  /** Opens streams of labelers; limits concurrent handshakes. */
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
export const pageSlots = {
  total: 128,
  perHost: 4,
  perDomain: 32,
  perSource: 4,
  reserved: 64,
  unproven: 48,
  slowPrivileged: 32,
};

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
  const { maxStreamsPerHost = 32, maxLabelers = labelerLimits.default } = options;
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, ...names });
  const rateOf = (kind: keyof typeof perPoll): HostRate => ({
    perSecond: (perPoll[kind] * 1_000) / timings.pollMs,
    burst: hostBursts[kind],
  });
  const shared = { policy, decodedRate, resolve: strangers.resolve, userAgent };
  const http = createHttpClient({ ...shared, ...pageSlots, hostRate: rateOf('pages') });
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
      ...{ total: maxLabelers + maxNewStreams, reserved: maxLabelers },
    }),
    openStream: createStreamOpener({
      ...{ policy, userAgent, resolve: strangers.resolve, timings },
      handshakes: createSlots({
        ...handshakes,
        hostRate: rateOf('handshakes'),
        maxWaiting: Math.max(8_192, maxLabelers),
      }),
    }),
    resolveTxt: strangers.resolveTxt,
    async close() {
      await Promise.all([http.close(), directory.close(), web.close()]);
    },
  };
}

/** Dependencies of `createStreamOpener`. */
interface StreamOpenerOptions {
  readonly policy: AddressPolicy;
  /** User agent that is sent with every handshake. */
  readonly userAgent: string;
  /** Resolves untrusted host names. */
  readonly resolve: Resolve;
  /**
   * Slots for concurrent handshakes, so that a host that accepts connections and never responds delays no other host.
   */
  readonly handshakes: Slots;
  readonly timings: Pick<Timings, 'requestMs'>;
}

/** Labeler whose stream is opened, and its share of the handshakes. */
interface StreamOwner {
  readonly endpoint: string;
  readonly peer: Peer;
}

/** Callbacks of a stream's reader for its messages: see `SocketOptions`. */
type StreamEvents = Pick<SocketOptions, 'onFrame' | 'onRead' | 'onPartial' | 'partialMs'>;

/**
 * Function that opens the stream of a source, after a cursor if one is given, and live otherwise. Rejects with
 * ConnectError, of kind `busy` if no slot is free.
 */
type OpenStream = (
  source: StreamOwner,
  cursor: number | null,
  events: StreamEvents,
  signal: AbortSignal,
) => Promise<GuardedSocket>;

/** Maximum wait for a handshake, in milliseconds; honest servers respond sooner. */
const maxHandshakeMs = 15_000;

/** Creates the function that opens the streams of labelers. Opens no connection. */
export function createStreamOpener(options: StreamOpenerOptions): OpenStream {
  const { policy, userAgent, resolve, handshakes, timings } = options;
  const secureContext = createSecureContext();
  return async ({ endpoint, peer }, cursor, events, signal) => {
    const handshakeMs = Math.min(timings.requestMs, maxHandshakeMs);
    const turn = await handshakes.acquire({ host: new URL(endpoint).host, ...peer }, timings.requestMs, signal);
    if (typeof turn === 'string') throw new ConnectError(turn, `cannot open a stream: ${turn}`);
    let answered = false;
    try {
      const socket = await openSocket(
        {
          ...{
            url: streamUrl(endpoint, cursor),
            policy,
            userAgent,
            resolve,
            secureContext,
            handshakeMs,
            closeMs: 2_000,
            maxFrameBytes,
            ...events,
          },
          // The timeout of an idle connection can be one day, because polls confirm a quiet stream.
          ...{ pingMs: 30_000, pongMs: 20_000, idleMs: 86_400_000 },
        },
        signal,
      );
      answered = true;
      return socket;
    } finally {
      turn(answered);
    }
  };
}

/**
 * Maximum size of a frame, in bytes. A label of 10 MB must be read and refused, so that reading continues for
 * its source.
 */
const maxFrameBytes = inputLimits.labelFrame.bytes;

/** Returns the URL of a labeler's `subscribeLabels`. The stream is live if `cursor` is null. */
function streamUrl(endpoint: string, cursor: number | null): string {
  const url = new URL('/xrpc/com.atproto.label.subscribeLabels', endpoint);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  if (cursor !== null) url.searchParams.set('cursor', String(cursor));
  return url.href;
}

/** Intervals and timeouts of reading sources, in milliseconds. Tests use shorter times. */
export interface Timings {
  /** Interval between polls of a quiet source. */
  readonly pollMs: number;
  /** Silence of a live stream after which the reader confirms that the stream has missed no labels. */
  readonly confirmMs: number;
  /** Interval between checks of the last row of a polled source. */
  readonly tailMs: number;
  /** Time within which a resumed stream must repeat its last frame. */
  readonly resumeMs: number;
  /** Interval between attempts to open a stream of a source that rejects streams. */
  readonly streamRetryMs: number;
  /**
   * Maximum of the first random wait after a failure of an enrolled source; the maximum doubles with each further
   * failure.
   */
  readonly firstRetryMs: number;
  /** Maximum wait after a failure of an enrolled source. */
  readonly maxRetryMs: number;
  /** Interval between attempts for a source that is known but not enrolled. */
  readonly notEnrolledMs: number;
  /** Timeout of a request, and of opening a connection. */
  readonly requestMs: number;
  /** Interval between heartbeats, and between checks of the disk. */
  readonly heartbeatMs: number;
  /** Interval between runs of the store's upkeep. */
  readonly upkeepMs: number;
  /**
   * Maximum time for which the instrument waits for an upstream's time at startup, and the minimum interval between two
   * rounds of requests for the time.
   */
  readonly clockMs: number;
  /** Waits from an event to the look-ups of the document that the event announces. */
  readonly lookupDelays: LookupDelays;
  /**
   * Interval after a failed look-up of a document, or after one that a replica answered, which may be outdated. For
   * did:web, the intervals grow from it.
   */
  readonly documentRetryMs: number;
}

/** Timings that are used on the live network. */
export const liveTimings: Timings = {
  pollMs: 30_000,
  // Keep this value below the coverage tolerance of 10 minutes, so that a quiet network is confirmed before its silence
  // counts as a gap.
  confirmMs: 540_000,
  tailMs: 3_600_000,
  resumeMs: 20_000,
  streamRetryMs: 3_600_000,
  firstRetryMs: 2_000,
  maxRetryMs: 900_000,
  notEnrolledMs: 86_400_000,
  requestMs: 30_000,
  heartbeatMs: 10_000,
  upkeepMs: 300_000,
  clockMs: 5_000,
  lookupDelays: liveLookupDelays,
  documentRetryMs: 60_000,
};
