import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { systemCode } from '../ops/errors.ts';
import type { ClientOf } from './client-address.ts';
import { limitConnections } from './descriptors.ts';
import { allowedMethods, type HeaderList } from './headers.ts';
import { httpLimits } from './limits.ts';
import { answerParserError, answerRaw, endQuietly } from './parser-errors.ts';
import { openPlainLane, type PlainLane } from './plain-lane.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { errorReply, type Reply, type StreamedReply, send, sendStreamed } from './reply.ts';

/** How a server answers one well-formed request; where it throws or rejects, the client gets 500 without detail. */
export type Answering =
  | { readonly answer: (request: ReadRequest, now: number) => Reply }
  /** `gone` is aborted when the client leaves before its answer. */
  | { readonly answerLater: (request: ReadRequest, now: number, gone: AbortSignal) => Promise<Reply | StreamedReply> };

/** What a public server needs to know. */
export type HttpServerOptions = Answering & {
  /** Headers that every response carries. */
  readonly common: HeaderList;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of an error that no client is told of. */
  readonly failed: (error: unknown) => void;
  /** Tells each request's client to the answering side; nothing looks at addresses without it. */
  readonly clientOf?: ClientOf;
};

/** A public HTTP server that can be started and stopped once. */
export interface HttpServer {
  /** Listens; resolves with the port. Rejects when the port is in use or not permitted. */
  start(at: { host: string; port: number }): Promise<number>;
  /** Stops accepting, lets what is in flight finish for at most `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Makes a server; nothing listens before `start`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { common, clock, failed, clientOf } = options;
  const server = createServer({
    maxHeaderSize: httpLimits.maxHeaderBytes,
    headersTimeout: httpLimits.headersTimeoutMs,
    requestTimeout: httpLimits.requestTimeoutMs,
    keepAliveTimeout: httpLimits.keepAliveTimeoutMs,
    connectionsCheckingInterval: httpLimits.checkEveryMs,
    // The default answer to a missing Host is not the Error object; the request is refused below instead.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxHeadersCount = httpLimits.maxHeadersCount;
  limitConnections(server);

  const internalError = errorReply(
    'internal_error',
    common,
    common.includes('Cache-Control') ? [] : ['Cache-Control', 'no-store'],
  );

  function safely(answer: (request: ReadRequest, now: number) => Reply) {
    return (request: ReadRequest, now: number): Reply => {
      try {
        return answer(request, now);
      } catch (error) {
        failed(error);
        return internalError;
      }
    };
  }

  const answerNow = 'answer' in options ? safely(options.answer) : null;

  /** The request that each connection asked last: when its body fails, it has its answer already. */
  const latest = new WeakMap<Duplex, IncomingMessage>();

  function onRequest(message: IncomingMessage, response: ServerResponse): void {
    const now = clock();
    latest.set(message.socket, message);
    // The parser drops what came in one piece behind an upgrade that is not taken: the client must ask anew.
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (!wellFormed(message)) send(message, response, malformed, now);
    else if (answerNow) send(message, response, answerNow(view(message), now), now);
    else void answerAfterwards(message, response, now);
  }

  async function answerAfterwards(message: IncomingMessage, response: ServerResponse, now: number): Promise<void> {
    if (!('answerLater' in options)) return;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const reply = await options.answerLater(view(message), now, gone.signal).catch((error: unknown) => {
      failed(error);
      return internalError;
    });
    // Nobody is there to answer any more.
    if (response.destroyed) return;
    if (!('stream' in reply)) {
      send(message, response, reply, now);
      return;
    }
    await sendStreamed(message, response, reply, now).catch((error: unknown) => {
      // A client that left is no fault of this service.
      if (!leavings.has(systemCode(error) ?? '')) failed(error);
      response.destroy();
    });
  }

  function view(message: IncomingMessage): ReadRequest {
    const request = readRequest(message);
    return clientOf ? { ...request, client: clientOf(message) } : request;
  }

  const malformed = errorReply('bad_request', common, ['Connection', 'close']);
  server.on('request', onRequest);
  // An expectation that is not understood is no reason to refuse a read.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => {
    if (latest.get(socket)?.complete === false) endQuietly(socket);
    else answerParserError(error, socket, common, clock());
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    answerRaw(socket, 'method_not_allowed', common, clock(), ['Allow', allowedMethods]);
  });

  // The lane does not know clients and does not wait: a server that does takes the full parser for every request.
  const lane =
    clientOf || !answerNow
      ? null
      : openPlainLane(server, { answer: answerNow, clock, idleMs: httpLimits.keepAliveTimeoutMs });
  return {
    start: ({ host, port }) => listen(server, host, port),
    stop: (graceMs) => close(server, lane, graceMs),
  };
}

/** How it shows that a client left before its answer was whole. */
const leavings = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** What the parser lets through and HTTP does not. */
function wellFormed(message: IncomingMessage): boolean {
  const coding = message.headers['transfer-encoding'];
  // A body whose end cannot be told (RFC 9112, section 6.3), and a request without a version.
  if (coding !== undefined && !/(?:^|,)[ \t]*chunked$/i.test(coding)) return false;
  return message.httpVersionMajor === 1 && namesHost(message);
}

/** HTTP/1.1 wants one Host on every request, and no version may have two (RFC 9112, section 3.2). */
function namesHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // A long queue: ten thousand clients may come at once after a restart.
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server, lane: PlainLane | null, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      lane?.cut();
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    lane?.close();
    server.closeIdleConnections();
  });
}
