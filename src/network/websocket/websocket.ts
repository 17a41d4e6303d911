import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { maxInformational } from '../../input/limits.ts';
import { bareHost, publicUrl } from '../../input/url.ts';
import { systemCode, systemWords } from '../../ops/errors.ts';
import {
  type AddressPolicy,
  admitSocketUrl,
  BusyResolverError,
  guardedLookup,
  RefusedAddressError,
} from '../guard/address-policy.ts';
import { BodyBytes, maxErrorBytes, readStatus } from '../http/http-answer.ts';
import { AttendedSocket, type GuardedSocket, type Phase, type SocketOptions } from './attended-socket.ts';

export type { GuardedSocket, SocketOptions } from './attended-socket.ts';

/** Maximum number of fragments of a message. Servers that fragment messages send a few kilobytes in each fragment. */
const defaultMaxFragments = 256;
/** Maximum number of received pieces of one incomplete fragment. */
const maxPendingChunks = 16_384;

/**
 * Opens a websocket through the guard: connects only to addresses that the policy allows, follows no redirects, and
 * limits every wait. Rejects with ConnectError. An abort ends the opening, or closes the connection.
 */
export async function openSocket(options: SocketOptions, signal: AbortSignal): Promise<GuardedSocket> {
  const { policy, resolve } = options;
  const { url, loopbackOnly } = admit(options.url, policy);
  if (signal.aborted) throw failure('aborted', url, 'aborted');
  const phase: Phase = { now: isIP(bareHost(url)) === 0 ? 'dns' : 'connect' };
  const over = new AbortController();
  const settings = {
    followRedirects: false,
    headers: { 'User-Agent': options.userAgent },
    lookup: guardedLookup(policy, {
      ...{ loopbackOnly, resolve, signal: over.signal },
      found: () => {
        phase.now = 'connect';
      },
    }),
    secureContext: options.secureContext,
    // Set this option explicitly, so that no environment variable can override it.
    rejectUnauthorized: true,
    maxPayload: options.maxFrameBytes,
    // Limit the number of fragments, because each one occupies memory that the limits on bytes do not count.
    maxFragments: options.maxFragments ?? defaultMaxFragments,
    maxBufferedChunks: maxPendingChunks,
    closeTimeout: options.closeMs,
    // Disable message compression: it costs more than it saves, and it would let the peer decide how much memory this
    // process uses.
    perMessageDeflate: false,
    // Skip the validation of UTF-8, because the consumer of the frames validates their bytes.
    skipUTF8Validation: true,
    // Deliver all messages of one read in the same turn unless they are costly; one message per turn would limit the
    // message rate to the turn rate of the event loop.
    allowSynchronousEvents: options.isCostly !== true,
    finishRequest(request: ClientRequest) {
      request.once('socket', (socket) => {
        phase.socket = socket;
        follow(socket, phase);
      });
      let informed = 0;
      request.on('information', () => {
        informed += 1;
        if (informed > maxInformational) request.destroy(new Error('too many informational responses'));
      });
      request.end();
    },
  };
  const ws = new WebSocket(url, options.protocol === undefined ? [] : [options.protocol], settings);
  const socket = new AttendedSocket(ws, options, phase);
  try {
    await opened(ws, { url, phase, handshakeMs: options.handshakeMs, signal });
  } finally {
    // End the DNS query of the abandoned connection.
    over.abort('settled');
  }
  const abort = (): void => socket.close();
  // A message that arrived with the handshake may have caused an abort, so check the signal.
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  void socket.closed.then(() => signal.removeEventListener('abort', abort));
  return socket;
}

function follow(socket: Socket, phase: Phase): void {
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
  { error, answer }: Refusal = noRefusal,
): ConnectError {
  const words = error === null ? why : `${why} (${error})`;
  return new ConnectError(kind, `cannot connect to ${publicUrl(url)}: ${words}`, status, error, answer);
}

/** Body of a response that refused a handshake, and the XRPC error name in it, or null if there is none. */
interface Refusal {
  readonly error: string | null;
  readonly answer: string;
}

const noRefusal: Refusal = { error: null, answer: '' };

/** Reads the body of a refusal, within the deadline of the handshake. A body that is too long is ignored. */
function readRefusal(response: IncomingMessage, done: (refusal: Refusal) => void): void {
  const bytes = new BodyBytes(maxErrorBytes);
  const { headers, statusCode = 0 } = response;
  const over = (): void => {
    const body = bytes.whole();
    const { error } = readStatus({ kind: 'answer', status: statusCode, headers, body }, 0);
    done({ error, answer: Buffer.from(body).toString('latin1') });
  };
  response.on('data', (piece: Buffer) => {
    if (!bytes.add(piece)) done(noRefusal);
  });
  response
    .once('end', over)
    .once('error', () => done(noRefusal))
    .once('aborted', () => done(noRefusal));
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
      readRefusal(response, (refusal) => settle(failure('handshake_status', url, why, statusCode, refusal)));
    };
    const abort = (): void => settle(failure('aborted', url, 'aborted'));
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

/** Reason why a connection could not be opened. */
type ConnectFailure =
  /** The guard does not admit the URL, because of its syntax or scheme. */
  | 'bad_url'
  /** The address is private, loopback or otherwise not public. */
  | 'refused_address'
  | 'dns'
  | 'connect'
  | 'tls'
  /** The peer responded with bytes that are not a websocket handshake. */
  | 'handshake'
  /** The peer responded to the handshake with a status other than 101; redirects are never followed. */
  | 'handshake_status'
  | 'timeout'
  /** A limit of this process prevented the request. */
  | 'busy'
  | 'aborted';

/**
 * Error for a connection that could not be opened. The message is one line and names the host without credentials or
 * query.
 */
export class ConnectError extends Error {
  readonly kind: ConnectFailure;
  /** HTTP status of a `handshake_status` failure, or null for other failures. */
  readonly status: number | null;
  /** XRPC error name in the response that refused the handshake, or null if there is none. */
  readonly error: string | null;
  /** Text of the response that refused the handshake; empty if there is none or it is too long. Never show it. */
  readonly answer: string;
  /** True if a later attempt can succeed. */
  readonly retryable: boolean;

  constructor(
    kind: ConnectFailure,
    message: string,
    status: number | null = null,
    error: string | null = null,
    answer = '',
  ) {
    super(message);
    this.name = 'ConnectError';
    this.kind = kind;
    this.status = status;
    this.error = error;
    this.answer = answer;
    this.retryable = retryable(kind, status);
  }
}

function retryable(kind: ConnectFailure, status: number | null): boolean {
  switch (kind) {
    case 'bad_url':
    case 'refused_address':
    case 'aborted':
      return false;
    case 'handshake_status':
      return status !== null && (status >= 500 || status === 408 || status === 425 || status === 429);
    case 'dns':
    case 'connect':
    case 'tls':
    case 'handshake':
    case 'timeout':
    case 'busy':
      return true;
  }
}
