import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientOf } from './client-address.ts';
import { allowedMethods, type HeaderList } from './headers.ts';
import { httpLimits } from './limits.ts';
import { answerParserError, answerRaw, endQuietly } from './parser-errors.ts';
import { openPlainLane, type PlainLane } from './plain-lane.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { errorReply, type Reply, send } from './reply.ts';

/** What a public server needs to know. */
export interface HttpServerOptions {
  /** Answers one well-formed request; it may throw, and the client then gets 500 without detail. */
  readonly answer: (request: ReadRequest, now: number) => Reply;
  /** Headers that every response carries. */
  readonly common: HeaderList;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of an error that no client is told of. */
  readonly failed: (error: unknown) => void;
  /** Tells each request's client to `answer`; nothing looks at addresses without it. */
  readonly clientOf?: ClientOf;
}

/** A public HTTP server that can be started and stopped once. */
export interface HttpServer {
  /** Listens; resolves with the port. Rejects when the port is in use or not permitted. */
  start(at: { host: string; port: number }): Promise<number>;
  /** Stops accepting, lets what is in flight finish for at most `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Makes a server; nothing listens before `start`. */
export function createHttpServer({ answer, common, clock, failed, clientOf }: HttpServerOptions): HttpServer {
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

  function answerSafely(request: ReadRequest, now: number): Reply {
    try {
      return answer(request, now);
    } catch (error) {
      failed(error);
      return errorReply('internal_error', common, ['Cache-Control', 'no-store']);
    }
  }

  /** The request that each connection asked last: when its body fails, it has its answer already. */
  const latest = new WeakMap<Duplex, IncomingMessage>();

  function onRequest(message: IncomingMessage, response: ServerResponse): void {
    const now = clock();
    latest.set(message.socket, message);
    // The parser drops what came in one piece behind an upgrade that is not taken: the client must ask anew.
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    send(message, response, wellFormed(message) ? answerSafely(view(message), now) : malformed, now);
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

  // The lane does not know clients: a server that must tell them takes the full parser for every request.
  const lane = clientOf
    ? null
    : openPlainLane(server, { answer: answerSafely, clock, idleMs: httpLimits.keepAliveTimeoutMs });
  return {
    start: ({ host, port }) => listen(server, host, port),
    stop: (graceMs) => close(server, lane, graceMs),
  };
}

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
