import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { createSlots, type Slots } from '../../network/guard/slots.ts';
import { createHttpClient, type HttpClient } from '../../network/http/http.ts';
import { createIdentityResolver, type IdentityResolver } from '../../network/identity/identity.ts';
import { maxEnrolled } from '../roster/known-labeler.ts';
import { createStreamOpener, type OpenStream } from '../stream/open-stream.ts';
import type { Timings } from '../stream/timings.ts';

/** Dependencies of the instrument's network clients. */
export interface OutboundOptions {
  readonly policy: AddressPolicy;
  readonly plc: string;
  readonly plcReplicas?: readonly string[];
  /** Sent with every request and handshake. */
  readonly userAgent: string;
  readonly timings: Timings;
  /** Streams of one host and port (32). */
  readonly maxStreamsPerHost?: number | undefined;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** The ways to the network, kept apart so that strangers can exhaust none but their own. */
export interface Outbound {
  /** For what strangers serve: pages of labels, records, handles. */
  readonly http: HttpClient;
  /** For what the operator configured: the did:plc directory and the relays. */
  readonly directory: HttpClient;
  /** Resolves names that the operator configured. */
  readonly resolveOwn: Resolve;
  readonly identities: IdentityResolver;
  readonly streams: Slots;
  readonly openStream: OpenStream;
  resolveTxt(name: string, signal: AbortSignal): Promise<string[][]>;
  close(): Promise<void>;
}

/**
 * Requests for pages at once. A slot costs a socket and at most 256 KiB of a body; larger bodies need a permit of their
 * own. Half is for seeded and established sources. Hosts that are slow or never answered get few: 48 for new sources,
 * where 150 hosts that answer after 28 s once held all 24 there were, and 32 for privileged ones.
 */
const pages = { total: 128, perHost: 4, perDomain: 32, perSource: 4, reserved: 64, unproven: 48, slowPrivileged: 32 };

/** Handshakes of streams at once: each costs a socket, and one that is never answered lasts 15 s. */
const handshakes = { total: 256, perHost: 8, perDomain: 64, reserved: 96, unproven: 128, slowPrivileged: 64 };

/** did:web documents at once, which come from as many hosts as strangers like. */
const webDocuments = { total: 48, perHost: 2, perDomain: 4, reserved: 16, unproven: 24, slowPrivileged: 8 };
const webTimeoutMs = 5_000;

/** Streams of one registrable domain: honest platforms host hundreds of labelers. Beyond it they are polled. */
const streamsPerDomain = 256;
/** Streams of new sources in all; those of seeded and established ones are bounded by the enrolment alone. */
const maxNewStreams = 2_000;

/** Names of strangers that are looked up at once: more than requests and handshakes together, so that none waits. */
const names = { total: 512, perDomain: 64 };

/** Makes the clients, slots and resolvers of one instrument; nothing is connected to before it is asked. */
export function createOutbound(options: OutboundOptions): Outbound {
  const { policy, plc, plcReplicas = [], userAgent, timings, maxStreamsPerHost = 32, clock } = options;
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, ...names });
  const http = createHttpClient({ policy, ...pages, resolve: strangers.resolve, userAgent });
  const directory = createHttpClient({ policy, total: 24, reserved: 8, resolve: own.resolve, userAgent });
  const web = createHttpClient({ policy, ...webDocuments, resolve: strangers.resolve, userAgent });
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
      ...{ total: maxEnrolled + maxNewStreams, reserved: maxEnrolled },
    }),
    openStream: createStreamOpener({
      ...{ policy, userAgent, resolve: strangers.resolve, timings },
      handshakes: createSlots({ ...handshakes, maxWaiting: 8_192 }),
    }),
    resolveTxt: strangers.resolveTxt,
    async close() {
      await Promise.all([http.close(), directory.close(), web.close()]);
    },
  };
}
