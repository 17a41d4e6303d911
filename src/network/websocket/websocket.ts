import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { bareHost, publicUrl } from '../../input/url.ts';
import { systemCode, systemWords } from '../../ops/errors.ts';
import {
  type AddressPolicy,
  BusyResolverError,
  guardedLookup,
  RefusedAddressError,
  type Resolve,
} from '../guard/address-policy.ts';
import { admitSocketUrl } from '../guard/outbound-url.ts';
import { maxErrorBytes, readStatus } from '../http/http-answer.ts';
import { ConnectError, type ConnectFailure } from './connect-error.ts';
import { type Liveness, type LivenessOptions, watchLiveness } from './liveness.ts';
import { type PartialMessageOptions, watchPartialMessage } from './partial-message.ts';

/** The address to connect to, with limits; all times in milliseconds. */
export interface SocketOptions extends LivenessOptions, PartialMessageOptions {
  /** `wss:`; `ws:` only to loopback, where the policy allows that. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /** The subprotocol that is offered. */
  readonly protocol?: string;
  /** From the call to the open connection: resolution, TCP, TLS and the answer to the handshake. */
  readonly handshakeMs: number;
  /** A closing handshake that takes longer is cut short. */
  readonly closeMs: number;
  /** Texts of a peer's close frame that are passed on as `name`; none by default. */
  readonly closeNames?: readonly string[];
  /** Longest message taken, in bytes, all its fragments together; a longer one ends the connection as `too_large`. */
  readonly maxFrameBytes: number;
  /**
   * Each message, in order, synchronously; none after `close` or an abort. The first may come before the promise of
   * `openSocket` has resolved. The bytes may share memory with others: copy what must last. Must not throw.
   */
  readonly onFrame: (data: Buffer, isBinary: boolean) => void;
  /** Name resolution. */
  readonly resolve: Resolve;
  /** Sent as `User-Agent` with the handshake. */
  readonly userAgent: string;
}

/** Why an open connection ended. */
export type CloseInfo =
  /**
   * The peer closed it, with this code (1005: it gave none). Its text is not kept, because it could hold anything; `name`
   * is set if the text is one of `closeNames`.
   */
  | { readonly reason: 'remote_close'; readonly code: number; readonly name?: string }
  | { readonly reason: 'local_close' }
  /** The transport ended without a closing handshake. */
  | { readonly reason: 'dropped' }
  | { readonly reason: 'pong_timeout' }
  | { readonly reason: 'idle' }
  | { readonly reason: 'too_large' }
  | { readonly reason: 'protocol_error' };

/** An open websocket. */
export interface GuardedSocket {
  /** Resolves when the connection is over and its resources are free; never rejects. */
  readonly closed: Promise<CloseInfo>;
  /** Stops reading, so that the peer feels it; what was read already may still come. Deadlines wait. */
  pause(): void;
  resume(): void;
  /** Closes from this side; `closed` says when it is over. */
  close(): void;
}

/**
 * Opens a websocket through the guard: only to addresses that the policy lets through, no redirects, every wait bounded.
 * Rejects with ConnectError. An abort ends the try, or closes the connection.
 */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<GuardedSocket> {
  const { policy, resolve } = options;
  const { url, loopbackOnly } = admit(options.url, policy);
  if (signal.aborted) throw failure('aborted', url, 'stopped');
  const phase: Phase = { now: isIP(bareHost(url)) === 0 ? 'dns' : 'connect' };
  const over = new AbortController();
  const settings = {
    followRedirects: false,
    headers: { 'User-Agent': options.userAgent },
    lookup: guardedLookup(policy, { loopbackOnly, resolve, signal: over.signal }),
    maxPayload: options.maxFrameBytes,
    closeTimeout: options.closeMs,
    // Deflate by message costs more than the bytes it saves here, and is the peer's lever on our memory.
    perMessageDeflate: false,
    // The consumer of the frames validates their bytes; validating them twice would cost another pass.
    skipUTF8Validation: true,
    // All messages of one read are handed on in one go; one a turn would cap the rate at that of the event loop.
    allowSynchronousEvents: true,
    finishRequest(request: ClientRequest) {
      request.once('socket', (socket) => {
        phase.socket = socket;
        follow(socket, phase);
      });
      request.end();
    },
  };
  const ws = new WebSocket(url, options.protocol === undefined ? [] : [options.protocol], settings);
  const socket = attend(ws, options, phase);
  try {
    await opened(ws, { url, phase, handshakeMs: options.handshakeMs, signal });
  } finally {
    // A query whose connection was given up is of no use.
    over.abort();
  }
  const abort = (): void => socket.close();
  // A message that came with the opening may have been the occasion.
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  void socket.closed.then(() => signal.removeEventListener('abort', abort));
  return socket;
}

/** Last phase that an attempt reached, to attribute a failure. */
interface Phase {
  now: 'dns' | 'connect' | 'tls' | 'handshake';
  /** The transport, once there is one. */
  socket?: Socket;
}

function follow(socket: Socket, phase: Phase): void {
  socket.once('lookup', (error: Error | null) => {
    if (!error) phase.now = 'connect';
  });
  socket.once('connect', () => {
    phase.now = socket instanceof TLSSocket ? 'tls' : 'handshake';
  });
  socket.once('secureConnect', () => {
    phase.now = 'handshake';
  });
}

function admit(text: string, policy: AddressPolicy): { url: URL; loopbackOnly: boolean } {
  const admission = admitSocketUrl(text, policy);
  if (admission.kind === 'admitted') return admission;
  const { kind, url, why } = admission;
  throw url ? failure(kind, url, why) : new ConnectError(kind, `cannot connect: ${why}`);
}

function failure(
  kind: ConnectFailure,
  url: URL,
  why: string,
  status: number | null = null,
  error: string | null = null,
): ConnectError {
  const words = error === null ? why : `${why} (${error})`;
  return new ConnectError(kind, `cannot connect to ${publicUrl(url)}: ${words}`, status, error);
}

/** Reads the body of a refusal for the name of its error; within the deadline of the handshake. */
function readErrorName(response: IncomingMessage, done: (name: string | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { headers, statusCode = 0 } = response;
  const over = (): void => {
    const body = Buffer.concat(chunks);
    done(readStatus({ kind: 'answer', status: statusCode, headers, body }, 0).error);
  };
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxErrorBytes) chunks.push(chunk);
    else done(null);
  });
  response
    .once('end', over)
    .once('error', () => done(null))
    .once('aborted', () => done(null));
}

interface Opening {
  readonly url: URL;
  readonly phase: Phase;
  readonly handshakeMs: number;
  readonly signal: AbortSignal;
}

function opened(ws: WebSocket, { url, phase, handshakeMs, signal }: Opening): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: ConnectError | null): void => {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
      ws.off('open', open).off('error', fail).off('unexpected-response', answer);
      if (error) {
        ws.terminate();
        reject(error);
      } else resolve();
    };
    const open = (): void => settle(null);
    const fail = (error: Error): void => settle(failureOf(error, url, phase.now));
    const answer = (_request: ClientRequest, response: IncomingMessage): void => {
      const { statusCode = 0 } = response;
      const why = `the handshake failed with status ${statusCode}`;
      readErrorName(response, (name) => settle(failure('handshake_status', url, why, statusCode, name)));
    };
    const abort = (): void => settle(failure('aborted', url, 'stopped'));
    const deadline = setTimeout(
      () => settle(failure('timeout', url, `no response within ${handshakeMs} ms`)),
      handshakeMs,
    );
    signal.addEventListener('abort', abort, { once: true });
    ws.on('open', open).on('error', fail).on('unexpected-response', answer);
  });
}

function failureOf(error: Error, url: URL, phase: Phase['now']): ConnectError {
  if (error instanceof RefusedAddressError) return failure('refused_address', url, error.message);
  if (error instanceof BusyResolverError) return failure('busy', url, error.message);
  return failure(phase, url, systemCode(error) === null ? error.message : systemWords(error));
}

/** Serves a socket from its making to its end; deadlines run from its opening. */
function attend(ws: WebSocket, options: SocketOptions, phase: Phase): GuardedSocket {
  const { onFrame } = options;
  const { promise: closed, resolve } = Promise.withResolvers<CloseInfo>();
  let liveness: Liveness | null = null;
  let isPaused = false;
  /** The first reason is the one; what follows from it is not. */
  let ending: CloseInfo | null = null;

  function end(info: CloseInfo): boolean {
    if (ending) return false;
    ending = info;
    liveness?.stop();
    partial.stop();
    return true;
  }

  const partial = watchPartialMessage(options, {
    pause: () => ws.pause(),
    resume: () => {
      if (!isPaused) ws.resume();
    },
    late: () => {
      if (end({ reason: 'dropped' })) ws.terminate();
    },
  });

  ws.on('open', () => {
    // After the listener of ws itself: the messages that a chunk completes were handed over.
    phase.socket?.on('data', (chunk: Buffer) => {
      if (!ending) partial.chunk(chunk.length);
    });
    liveness = watchLiveness(options, {
      ping: () => ws.ping(),
      dead: (reason) => {
        // A dead peer will not answer a closing handshake either.
        if (end({ reason })) ws.terminate();
      },
    });
  });
  ws.on('message', (data, isBinary) => {
    if (ending || !Buffer.isBuffer(data)) return;
    liveness?.message();
    partial.message(data.length);
    onFrame(data, isBinary);
  });
  ws.on('ping', () => liveness?.control());
  ws.on('pong', () => liveness?.control());
  // Violations come as errors; ws itself then closes with the right code, within `closeMs`.
  ws.on('error', (error) => {
    end(reasonOf(error));
  });
  ws.on('close', (code, text) => {
    const name = options.closeNames?.find((one) => text.equals(Buffer.from(one)));
    const closing = { reason: 'remote_close', code, ...(name !== undefined && { name }) } as const;
    end(code === 1006 ? { reason: 'dropped' } : closing);
    resolve(ending ?? { reason: 'dropped' });
  });

  return {
    closed,
    pause() {
      if (ending) return;
      isPaused = true;
      partial.setReading(false);
      liveness?.pause();
      ws.pause();
    },
    resume() {
      if (ending) return;
      isPaused = false;
      partial.setReading(true);
      if (!partial.isWaiting) ws.resume();
      liveness?.resume();
    },
    close() {
      if (!end({ reason: 'local_close' })) return;
      // The peer's answer has to be read.
      ws.resume();
      ws.close(1000);
    },
  };
}

function reasonOf(error: Error): CloseInfo {
  const code = systemCode(error);
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') {
    return { reason: 'too_large' };
  }
  return { reason: code?.startsWith('WS_ERR_') ? 'protocol_error' : 'dropped' };
}
