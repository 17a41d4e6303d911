import { inputLimits } from '../../input/limits.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { Slots } from '../../network/guard/slots.ts';
import type { Peer } from '../../network/http/http.ts';
import { ConnectError, type GuardedSocket, openSocket, type SocketOptions } from '../../network/websocket/websocket.ts';
import type { Timings } from './timings.ts';

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
export interface StreamOwner {
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
