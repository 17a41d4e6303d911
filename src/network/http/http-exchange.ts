import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { maxInformational } from '../../input/limits.ts';
import { bareHost } from '../../input/url.ts';
import { systemCode } from '../../ops/errors.ts';
import { BusyResolverError, RefusedAddressError } from '../guard/address-policy.ts';
import type { Release } from '../guard/slots.ts';
import { BodyBytes, type HttpFailure, type HttpPhase, maxErrorBytes, type RawAnswer } from './http-answer.ts';

/** Parameters of one request over one connection; sizes in bytes, times in milliseconds. */
export interface Exchange {
  readonly url: URL;
  /** Connection pool, or false for a new connection that is closed after the response. */
  readonly agent: Agent | false;
  /**
   * Returns the look-up function of this request, which calls `found` when it has an address. The signal aborts at the
   * end of the request.
   */
  readonly lookup: (signal: AbortSignal, found: () => void) => LookupFunction;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxHeaderBytes: number;
  readonly maxBytes: number;
  /** Timeout of the whole exchange in milliseconds, from the resolution to the last byte of the response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the body exceeds `smallBodyBytes`; reading is paused until the promise resolves. */
  readonly largeBody: (signal: AbortSignal) => Promise<Release | 'busy' | 'aborted'>;
}

/** Maximum size of a body that is read without a permit, in bytes. */
const smallBodyBytes = 256 * 1024;

/**
 * Result of an exchange. `stale` means that a pooled connection was closed before the response; this proves nothing
 * about the peer.
 */
type Outcome = RawAnswer | HttpFailure | { readonly kind: 'stale' };

/** Sends one request. Never rejects; when it resolves, the connection is closed or back in the pool. */
export function exchange(options: Exchange): Promise<Outcome> {
  return new Promise((resolve) => {
    if (options.signal.aborted) resolve({ kind: 'aborted' });
    else new RunningExchange(options, resolve).start();
  });
}

class RunningExchange {
  readonly #options: Exchange;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #over = new AbortController();
  readonly #request: ClientRequest;
  readonly #phase: { now: HttpPhase };
  readonly #abort = (): void => this.#settle({ kind: 'aborted' });
  #deadline: NodeJS.Timeout | undefined;
  #isSettled = false;
  #hasResponse = false;
  #permit: 'none' | 'awaited' | Release = 'none';

  constructor(options: Exchange, resolve: (outcome: Outcome) => void) {
    const { url, agent, lookup, headers, maxHeaderBytes } = options;
    this.#options = options;
    this.#resolve = resolve;
    this.#phase = { now: isIP(bareHost(url)) === 0 ? 'dns' : 'connect' };
    const request: RequestOptions & { rejectUnauthorized: boolean } = {
      method: 'GET',
      agent,
      lookup: lookup(this.#over.signal, () => {
        this.#phase.now = 'connect';
      }),
      headers,
      maxHeaderSize: maxHeaderBytes,
      // Set this option explicitly, so that no environment variable can override it.
      rejectUnauthorized: true,
    };
    this.#request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, request);
  }

  start(): void {
    const { timeoutMs, signal } = this.#options;
    const request = this.#request;
    this.#deadline = setTimeout(() => this.#settle(this.#late()), timeoutMs);
    signal.addEventListener('abort', this.#abort, { once: true });
    request.once('socket', (socket) => follow(request, socket, this.#phase));
    request.on('error', (error) => {
      const isStale = request.reusedSocket && !this.#hasResponse;
      this.#settle(isStale ? { kind: 'stale' } : failureOf(error, this.#phase.now));
    });
    let informed = 0;
    request.on('information', () => {
      informed += 1;
      if (informed > maxInformational) this.#settle({ kind: 'too_large' });
    });
    request.on('response', (response) => this.#read(response));
    request.on('close', () => this.#settle({ kind: 'connect', code: 'ECONNRESET' }));
    request.end();
  }

  #read(response: IncomingMessage): void {
    this.#hasResponse = true;
    const { headers, statusCode: status = 0 } = response;
    const limit = status === 200 ? this.#options.maxBytes : Math.min(this.#options.maxBytes, maxErrorBytes);
    const beyond: Outcome = status === 200 ? { kind: 'too_large' } : { kind: 'answer', status, headers, body: null };
    if (Number(headers['content-length'] ?? 0) > limit) {
      this.#settle(beyond);
      return;
    }
    const body = new BodyBytes(limit);
    response.on('data', (piece: Buffer) => {
      if (this.#isSettled) return;
      if (!body.add(piece)) this.#settle(beyond);
      else if (body.length > smallBodyBytes && this.#permit === 'none') void this.#awaitPermit(response);
    });
    response.on('end', () => this.#settle({ kind: 'answer', status, headers, body: body.whole() }, true));
    response.on('error', (error) => this.#settle(failureOf(error, this.#phase.now)));
    response.on('close', () => this.#settle({ kind: 'connect', code: 'ECONNRESET' }));
  }

  /** Pauses a large body until it has a permit. */
  async #awaitPermit(response: IncomingMessage): Promise<void> {
    this.#permit = 'awaited';
    response.pause();
    const granted = await this.#options.largeBody(this.#over.signal);
    if (granted === 'busy') this.#settle({ kind: 'busy' });
    if (typeof granted === 'string') return;
    this.#permit = granted;
    if (this.#isSettled) granted();
    else response.resume();
  }

  #late(): Outcome {
    return this.#permit === 'awaited' ? { kind: 'busy' } : { kind: 'timeout', phase: this.#phase.now };
  }

  /**
   * Resolves the exchange with `outcome`, unless it has already been resolved. Pass `isReusable` only if the response
   * was read to its end.
   */
  #settle(outcome: Outcome, isReusable = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    this.#options.signal.removeEventListener('abort', this.#abort);
    // Without a reason, each request would create an error with a stack trace.
    this.#over.abort('settled');
    if (typeof this.#permit === 'function') this.#permit();
    if (!isReusable) this.#request.destroy();
    this.#resolve(outcome);
  }
}

function follow(request: ClientRequest, socket: Socket, phase: { now: HttpPhase }): void {
  if (request.reusedSocket) {
    phase.now = 'answer';
    return;
  }
  socket.once('connect', () => {
    phase.now = socket instanceof TLSSocket ? 'tls' : 'answer';
  });
  socket.once('secureConnect', () => {
    phase.now = 'answer';
  });
}

function failureOf(error: Error, phase: HttpPhase): HttpFailure {
  if (error instanceof RefusedAddressError) return { kind: 'refused_address', why: error.message };
  if (error instanceof BusyResolverError) return { kind: 'busy' };
  const code = systemCode(error) ?? error.name;
  if (code === 'HPE_HEADER_OVERFLOW') return { kind: 'too_large' };
  return { kind: phase === 'answer' ? 'connect' : phase, code };
}
