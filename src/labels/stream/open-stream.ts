import { inputLimits } from '../../input/limits.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { Slots } from '../../network/guard/slots.ts';
import type { Peer } from '../../network/http/http.ts';
import { ConnectError, type GuardedSocket, openSocket, type SocketOptions } from '../../network/websocket/websocket.ts';
import { type LookupDelays, liveLookupDelays } from '../roster/resolution-queue.ts';

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
export type StreamEvents = Pick<SocketOptions, 'onFrame' | 'onRead' | 'onPartial' | 'partialMs'>;

/**
 * Function that opens the stream of a source, after a cursor if one is given, and live otherwise. Rejects with
 * ConnectError, of kind `busy` if no slot is free.
 */
export type OpenStream = (
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
};
