import { type Agent, type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { bareHost } from '../../input/url.ts';
import { systemCode } from '../../ops/errors.ts';
import { BusyResolverError, RefusedAddressError } from '../guard/address-policy.ts';
import type { Release } from '../guard/slots.ts';
import { type HttpFailure, type HttpPhase, maxErrorBytes, type RawAnswer } from './http-answer.ts';

/** One request over one connection; all sizes in bytes, all times in milliseconds. */
export interface Exchange {
  readonly url: URL;
  /** False: a connection of its own, closed afterwards. */
  readonly agent: Agent | false;
  /** Made for this request; the signal aborts once the request is over, whatever became of it. */
  readonly lookup: (signal: AbortSignal) => LookupFunction;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxHeaderBytes: number;
  readonly maxBytes: number;
  /** For everything: resolution, connection, and the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asked once the body is larger than `smallBodyBytes`; nothing more is read before it resolves. */
  readonly largeBody: (signal: AbortSignal) => Promise<Release | 'busy' | 'aborted'>;
}

/** Bodies up to this size, in bytes, are read without a permit. */
export const smallBodyBytes = 256 * 1024;

/**
 * Result of an exchange. `stale`: a pooled connection was closed before the response; nothing is known about the peer.
 */
export type Outcome = RawAnswer | HttpFailure | { readonly kind: 'stale' };

/** Asks once. Never rejects; when it resolves the connection is closed or back in the pool. */
export function exchange({ url, timeoutMs, signal, ...rest }: Exchange): Promise<Outcome> {
  const encrypted = url.protocol === 'https:';
  const { agent, lookup, headers, maxHeaderBytes, maxBytes, largeBody } = rest;
  const over = new AbortController();
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    method: 'GET',
    agent,
    lookup: lookup(over.signal),
    headers,
    maxHeaderSize: maxHeaderBytes,
    // Said, so that no variable of the environment decides it.
    rejectUnauthorized: true,
  };
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: 'aborted' });
    const request = (encrypted ? requestHttps : requestHttp)(url, options);
    const phase: { now: HttpPhase } = { now: isIP(bareHost(url)) === 0 ? 'dns' : 'connect' };
    let settled = false;
    let answering = false;
    let permit: 'none' | 'awaited' | Release = 'none';

    /** The first outcome is the one; unless the answer was read to its end, the connection has no further use. */
    const settle = (outcome: Outcome, reusable = false): void => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
      over.abort();
      if (typeof permit === 'function') permit();
      if (!reusable) request.destroy();
      resolve(outcome);
    };
    const abort = (): void => settle({ kind: 'aborted' });
    const late = (): Outcome => (permit === 'awaited' ? { kind: 'busy' } : { kind: 'timeout', phase: phase.now });
    const deadline = setTimeout(() => settle(late()), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });

    request.once('socket', (socket) => follow(request, socket, phase));
    request.on('error', (error) => {
      const stale = request.reusedSocket && !answering;
      settle(stale ? { kind: 'stale' } : failureOf(error, phase.now));
    });
    request.on('response', (response) => {
      answering = true;
      const status = response.statusCode ?? 0;
      const limit = status === 200 ? maxBytes : Math.min(maxBytes, maxErrorBytes);
      const beyond: Outcome =
        status === 200 ? { kind: 'too_large' } : { kind: 'answer', status, headers: response.headers, body: null };
      if (Number(response.headers['content-length'] ?? 0) > limit) return settle(beyond);
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > limit) return settle(beyond);
        chunks.push(chunk);
        if (length <= smallBodyBytes || permit !== 'none') return;
        permit = 'awaited';
        response.pause();
        void largeBody(over.signal).then((granted) => {
          if (granted === 'busy') return settle({ kind: 'busy' });
          if (granted === 'aborted') return;
          permit = granted;
          if (settled) granted();
          else response.resume();
        });
      });
      response.on('end', () =>
        settle({ kind: 'answer', status, headers: response.headers, body: Buffer.concat(chunks) }, true),
      );
      response.on('error', (error) => settle(failureOf(error, phase.now)));
      response.on('close', () => settle({ kind: 'connect', code: 'ECONNRESET' }));
    });
    request.on('close', () => settle({ kind: 'connect', code: 'ECONNRESET' }));
    request.end();
  });
}

function follow(request: ClientRequest, socket: Socket, phase: { now: HttpPhase }): void {
  if (request.reusedSocket) {
    phase.now = 'answer';
    return;
  }
  socket.once('lookup', (error: Error | null) => {
    if (!error) phase.now = 'connect';
  });
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
