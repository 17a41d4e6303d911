import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { systemCode } from '../ops/errors.ts';
import type { ClientOf } from './connections/client-address.ts';
import { type ConnectionBounds, ConnectionTable, type CutReason } from './connections/connection-table.ts';
import { belowDescriptors, limitConnections } from './connections/descriptors.ts';
import { networkTiers } from './connections/network-tiers.ts';
import { type UnsentBounds, UnsentBytes, type UnsentClaim } from './connections/unsent-bytes.ts';
import { Exchanges } from './exchanges.ts';
import { FairTurns } from './fair-turns.ts';
import { type Front, openFront } from './front.ts';
import { allowedMethods, type HeaderList } from './headers.ts';
import { defaultConnectionBounds, httpLimits } from './limits.ts';
import { type Listening, listen, listenWidely } from './listening.ts';
import { answerParserError, answerRaw, codeOfParserError, endQuietly } from './parser-errors.ts';
import { openPlainLane, type PlainLane } from './plain-lane.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { errorReply, type Reply, type StreamedReply, send, sendStreamed } from './reply.ts';

/** Answers one well-formed request; if it throws or rejects, the client gets 500 without detail. */
export type Answering =
  | { readonly answer: (request: ReadRequest, now: number) => Reply }
  | {
      /** `gone` is aborted when the client leaves before its answer. */
      readonly answerLater: (request: ReadRequest, now: number, gone: AbortSignal) => Promise<Reply | StreamedReply>;
      /** Bounds of the memory for responses that clients have not read yet. */
      readonly unsent: UnsentBounds;
      /** The answer where those bounds leave no room for another. */
      readonly overloaded: Reply;
    };

/** Options of a public server. */
export type HttpServerOptions = Answering & {
  /** Headers that every response carries. */
  readonly common: HeaderList;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of an error that no client is told of. */
  readonly failed: (error: unknown) => void;
  /** Tells each request's client to the answering side; nothing looks at addresses without it. */
  readonly clientOf?: ClientOf;
  /** Trusted proxies in front of the server; without a fast path, turns are shared between the clients that they name. */
  readonly proxies?: number;
  readonly connections?: Partial<ConnectionBounds>;
  /** Told of each connection that the server closed to protect itself and others. */
  readonly onCut?: (reason: CutReason) => void;
};

/** A public HTTP server that can be started and stopped once. */
export interface HttpServer {
  /** Listens; resolves with the port. Rejects when the port is in use or not permitted. */
  start(at: { host: string; port: number }): Promise<number>;
  /** Connections now. */
  connections(): number;
  /** Stops accepting, lets what is in flight finish for at most `graceMs`, then cuts the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Makes a server; nothing listens before `start`. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { common, clock, failed, clientOf, proxies = 0, onCut = () => undefined } = options;
  const asked = { ...defaultConnectionBounds, ...options.connections };
  // The lane does not know clients and does not wait: a server that does takes the full parser for every request.
  const hasLane = !clientOf && 'answer' in options;
  const bounds = hasLane ? asked : belowDescriptors(asked);
  const table = new ConnectionTable(bounds, onCut);
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

  const monotonic = (): number => performance.now();
  const exchanges = new Exchanges();
  const unsent = 'unsent' in options ? new UnsentBytes(options.unsent, monotonic) : null;

  function onRequest(message: IncomingMessage, response: ServerResponse): void {
    const now = clock();
    // The parser drops requests pipelined after an ignored upgrade: the client must send them again.
    if (message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const admission = exchanges.begin(message, response);
    const tracked = table.of(message.socket);
    if (admission.kind !== 'answer') {
      if (admission.kind === 'too_many' && tracked) table.cut(tracked, 'pipelined');
      return;
    }
    if (tracked) {
      tracked.answered += 1;
      tracked.outstanding += 1;
      response.once('close', () => {
        tracked.outstanding -= 1;
        front?.next(message.socket);
      });
    }
    if (!wellFormed(message)) {
      exchanges.close(message.socket);
      void admission.turn.then(() => send(message, response, malformed, now));
    } else if (answerNow) send(message, response, answerNow(view(message), now), now);
    else void admission.turn.then(() => answerAfterwards(message, response));
  }

  async function answerAfterwards(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!('answerLater' in options) || !unsent || response.destroyed || message.socket.destroyed) return;
    const now = clock();
    const gone = new AbortController();
    const request = view(message);
    const claim = unsent.claim(networkTiers(request.client ?? message.socket.remoteAddress ?? 'unknown'), () => {
      onCut('unsent');
      message.socket.destroy();
    });
    response.once('close', () => {
      gone.abort(left);
      claim.release();
    });
    const { reserve } = claim;
    const reply = await options.answerLater({ ...request, reserve }, now, gone.signal).catch((error: unknown) => {
      failed(error);
      return internalError;
    });
    // The client has left: its claim is released, and there is nothing to send.
    if (response.destroyed) return;
    await sendLater(message, response, claimed(message, reply, claim, options.overloaded), now);
  }

  async function sendLater(
    message: IncomingMessage,
    response: ServerResponse,
    reply: Reply | StreamedReply,
    now: number,
  ): Promise<void> {
    if (!('stream' in reply)) {
      send(message, response, reply, now);
      return;
    }
    await sendStreamed(message, response, reply, now).catch((error: unknown) => {
      // A client that left is no fault of this service.
      if (!disconnectCodes.has(systemCode(error) ?? '')) failed(error);
      response.destroy();
    });
  }

  function view(message: IncomingMessage): ReadRequest {
    const request = readRequest(message);
    return clientOf ? { ...request, client: clientOf(message) } : request;
  }

  function refuseSilent(socket: Socket): void {
    answerRaw(socket, 'request_timeout', common, clock());
  }

  const malformed = errorReply('bad_request', common, ['Connection', 'close']);
  server.on('request', onRequest);
  // An expectation that is not understood is no reason to refuse a read.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => {
    front?.discard(socket);
    if (codeOfParserError(error) === null) {
      socket.destroy();
      return;
    }
    // A second response to a request that has one, or to none at all, would be taken for the next request's.
    const quiet = exchanges.isClosing(socket) || exchanges.isIncomplete(socket);
    exchanges.finish(socket, () => (quiet ? endQuietly(socket) : answerParserError(error, socket, common, clock())));
  });
  server.on('connect', (_request, socket) => {
    front?.discard(socket);
    socket.on('error', () => socket.destroy());
    const quiet = exchanges.isClosing(socket);
    exchanges.finish(socket, () => {
      if (quiet) endQuietly(socket);
      else answerRaw(socket, 'method_not_allowed', common, clock(), ['Allow', allowedMethods]);
    });
  });

  const lane =
    !hasLane || !answerNow
      ? null
      : openPlainLane(server, { answer: answerNow, clock, idleMs: httpLimits.keepAliveTimeoutMs, table });
  const nextTurn = (act: () => void): void => void setImmediate(act);
  const turns = new FairTurns({ maxWaiting: bounds.total, nextTurn, monotonic });
  // Answers that are made at once need no turns: a client may close its side before its request is parsed.
  const front = answerNow ? null : openFront(server, { table, turns, proxies, nextTurn, monotonic, refuseSilent });
  if (!lane && !front) admitFirst(server, table);
  let sweep: NodeJS.Timeout | undefined;
  let listening: Listening | null = null;
  return {
    start: async ({ host, port }) => {
      listening = await (front
        ? listenWidely(server, { host, port }, acceptors, front.refuses)
        : listen(server, { host, port }));
      sweep = setInterval(() => {
        table.cutStalled(monotonic());
        front?.refuseSilent();
      }, httpLimits.checkEveryMs);
      return listening.port;
    },
    connections: () => table.size,
    stop: async (graceMs) => {
      await close(server, lane ?? front, { table, listening }, graceMs);
      clearInterval(sweep);
    },
  };
}

/** Lets the table of connections admit each new connection before the parser gets it. */
function admitFirst(server: Server, table: ConnectionTable): void {
  const parsers = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (table.admit(socket)) for (const parse of parsers) parse.call(server, socket);
  });
}

/** Listening sockets of a server with an admission front: connections that a turn of its event loop accepts. */
const acceptors = 16;

/** The reply where its bytes may be held until they are sent, else the refusal. */
function claimed(
  { method }: IncomingMessage,
  reply: Reply | StreamedReply,
  claim: UnsentClaim,
  overloaded: Reply,
): Reply | StreamedReply {
  // A streamed body holds no more than was reserved for its pieces.
  if ('stream' in reply) return reply;
  const bytes = method === 'HEAD' ? 0 : (reply.body?.length ?? 0);
  // A refusal in the place of a reply that is no larger would save nothing.
  if (claim.settle(bytes) || bytes <= (overloaded.body?.length ?? 0)) return reply;
  claim.settle(0);
  return overloaded;
}

/** Reason to give up a response. One error for all: creating one, with its stack, costs more than giving up. */
const left = new Error('the client left');

/** Codes of errors that mean that a client left before its response was complete. */
const disconnectCodes = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Returns false for requests that the parser accepts but HTTP does not allow. */
function wellFormed(message: IncomingMessage): boolean {
  const coding = message.headers['transfer-encoding'];
  // A body whose end cannot be told (RFC 9112, section 6.3), and a request without a version.
  if (coding !== undefined && !/(?:^|,)[ \t]*chunked$/i.test(coding)) return false;
  return message.httpVersionMajor === 1 && namesHost(message);
}

/** HTTP/1.1 requires one Host on every request, and no version may have two (RFC 9112, section 3.2). */
function namesHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

async function close(
  server: Server,
  before: PlainLane | Front | null,
  { table, listening }: { table: ConnectionTable; listening: Listening | null },
  graceMs: number,
): Promise<void> {
  const cut = setTimeout(() => {
    table.closeAll();
    server.closeAllConnections();
  }, graceMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const othersClosed = listening?.close();
  before?.close();
  server.closeIdleConnections();
  await Promise.all([closed, othersClosed]);
  clearTimeout(cut);
}
