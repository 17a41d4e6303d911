import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { systemCode } from '../ops/errors.ts';
import {
  type ConnectionBounds,
  ConnectionTable,
  type CutReason,
  type UnsentBounds,
  UnsentBytes,
  type UnsentClaim,
} from './connections/connection-table.ts';
import { type ClientOf, networkTiers } from './connections/network-tiers.ts';
import { FairTurns } from './fair-turns.ts';
import { openFront } from './front.ts';
import { belowDescriptors, limitConnections, listen } from './listening.ts';
import { answerParserError, answerRaw, codeOfParserError, Exchanges, endQuietly, httpLimits } from './parser-errors.ts';
import { openPlainLane } from './plain-lane.ts';
import { type FileRequest, fileRequest, type ReadRequest, readRequest } from './read-request.ts';
import {
  allowedMethods,
  errorReply,
  type HeaderList,
  type Reply,
  type StreamedReply,
  send,
  sendStreamed,
} from './reply.ts';

/**
 * Answers well-formed requests, immediately or later. If the function throws or rejects, the client gets status 500.
 */
export type Answering =
  | {
      readonly answer: (request: ReadRequest, now: number) => Reply;
      /** Handler for files, which takes precedence for the targets that it owns. */
      readonly files?: FileAnswering;
    }
  | {
      /** Returns the response to a request. `gone` aborts if the client disconnects before the response. */
      readonly answerLater: (request: ReadRequest, now: number, gone: AbortSignal) => Promise<Reply | StreamedReply>;
      /** Limits on the memory for responses that clients have not read yet. */
      readonly unsent: UnsentBounds;
      /** Response that is sent if the memory limits do not allow the actual response. */
      readonly overloaded: Reply;
    };

/** Serves files, which are read from disk while they are sent. */
export interface FileAnswering {
  /** Returns true for a request target that names a file. */
  readonly owns: (target: string) => boolean;
  /** Returns the address of the client; limits apply to each client. */
  readonly peerOf: ClientOf;
  readonly answer: (request: FileRequest, now: number) => Promise<Reply | StreamedReply>;
}

/** Options for a public server. */
export type HttpServerOptions = Answering & {
  /** Headers of every response. */
  readonly common: HeaderList;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns milliseconds of a clock that never steps back; the process's own if absent. */
  readonly monotonic?: () => number;
  /** Called with each error that the client receives as status 500 without details or as an incomplete response. */
  readonly failed: (error: unknown) => void;
  /** Returns the client's address for each request; if absent, requests contain no address. */
  readonly clientOf?: ClientOf;
  /**
   * Number of trusted proxies. On a server with `answerLater`, turns are shared between the clients that the proxies
   * name.
   */
  readonly proxies?: number;
  readonly connections?: Partial<ConnectionBounds>;
  /** Called for each connection that the server closes to protect itself and other clients. */
  readonly onCut?: (reason: CutReason) => void;
};

/** A public HTTP server. It can be started and stopped once. */
export interface HttpServer {
  /** Starts listening and resolves with the port. Rejects if the port is in use or not permitted. */
  start(at: { host: string; port: number }): Promise<number>;
  /** Returns the number of current connections. */
  connections(): number;
  /**
   * Stops accepting connections, waits up to `graceMs` for pending responses, then closes the remaining connections.
   */
  stop(graceMs: number): Promise<void>;
}

/** Creates a server. It does not listen before `start` is called. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { common, clock, failed, clientOf, proxies = 0, onCut = () => undefined } = options;
  const monotonic = options.monotonic ?? ((): number => performance.now());
  const asked = { ...defaultConnectionBounds, ...options.connections };
  // The fast path supports neither client addresses nor delayed responses; servers that need them use the full parser.
  const hasLane = !clientOf && 'answer' in options;
  const bounds = hasLane ? asked : belowDescriptors(asked);
  const table = new ConnectionTable(bounds, onCut);
  const server = createServer({
    maxHeaderSize: httpLimits.maxHeaderBytes,
    headersTimeout: httpLimits.headersTimeoutMs,
    requestTimeout: httpLimits.requestTimeoutMs,
    keepAliveTimeout: httpLimits.keepAliveTimeoutMs,
    connectionsCheckingInterval: httpLimits.checkEveryMs,
    // Node's response to a missing Host lacks the error body of the service, so `wellFormed` rejects such a request.
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
  const files = ('answer' in options ? options.files : undefined) ?? null;

  const exchanges = new Exchanges();
  const unsent = 'unsent' in options ? new UnsentBytes(options.unsent, monotonic) : null;

  function onRequest(message: IncomingMessage, response: ServerResponse): void {
    const now = clock();
    // The parser drops requests that are pipelined after an ignored upgrade, so close the connection.
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
    } else if (files?.owns(message.url ?? '')) {
      void admission.turn.then(() => sendFile(files, message, response));
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
    // Send no response: the client has disconnected, and its memory claim is released.
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
      // Do not report an error that was caused by a disconnected client or a deliberate abort.
      if (!disconnectCodes.has(systemCode(error) ?? '')) failed(error);
      response.destroy();
    });
  }

  async function sendFile(files: FileAnswering, message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (response.destroyed || message.socket.destroyed) return;
    const now = clock();
    const client = clientOf ? { client: clientOf(message) } : {};
    const reply = await files
      .answer({ ...fileRequest(message, files.peerOf(message)), ...client }, now)
      .catch((error: unknown) => {
        failed(error);
        return internalError;
      });
    try {
      if (!response.destroyed) await sendLater(message, response, reply, now);
    } finally {
      if ('stream' in reply) await reply.release?.().catch(failed);
    }
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
  // A request with an unknown `Expect` header gets the same response as without that header.
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => {
    front?.discard(socket);
    if (codeOfParserError(error) === null) {
      socket.destroy();
      return;
    }
    // The client would match an additional response to its next request.
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

  const leaves = (target: string): boolean => files?.owns(target) ?? false;
  const lane =
    !hasLane || !answerNow
      ? null
      : openPlainLane(server, { answer: answerNow, leaves, clock, idleMs: httpLimits.keepAliveTimeoutMs, table });
  const nextTurn = (act: () => void): void => void setImmediate(act);
  const turns = new FairTurns({ maxWaiting: bounds.total, nextTurn, monotonic });
  // Immediate responses need no turns, so a server that only sends such responses has no admission control.
  const front = answerNow ? null : openFront(server, { table, turns, proxies, nextTurn, monotonic, refuseSilent });
  if (!lane && !front) admitFirst(server, table);
  let sweep: NodeJS.Timeout | undefined;
  let listening: Closable<Promise<void>> | null = null;
  return {
    start: async ({ host, port }) => {
      const bound = await listen(server, { host, port }, front ? acceptors : 1, front?.refuses);
      listening = bound;
      sweep = setInterval(() => {
        table.cutStalled(monotonic());
        front?.refuseSilent();
      }, httpLimits.checkEveryMs);
      return bound.port;
    },
    connections: () => table.size,
    stop: async (graceMs) => {
      await close(server, lane ?? front, { table, listening }, graceMs);
      clearInterval(sweep);
    },
  };
}

/** Lets the connection table admit or refuse each new connection before the parser receives it. */
function admitFirst(server: Server, table: ConnectionTable): void {
  const parsers = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (table.admit(socket)) for (const parse of parsers) parse.call(server, socket);
  });
}

/**
 * Number of listening sockets of a server with admission control. Each socket accepts one connection per event loop
 * turn.
 */
const acceptors = 16;

/**
 * Returns the response if it is streamed, fits into the memory limits, or is no larger than `overloaded`. Otherwise
 * returns `overloaded`.
 */
function claimed(
  { method }: IncomingMessage,
  reply: Reply | StreamedReply,
  claim: UnsentClaim,
  overloaded: Reply,
): Reply | StreamedReply {
  // A streamed body needs only the memory that is already reserved for its chunks.
  if ('stream' in reply) {
    claim.sending();
    return reply;
  }
  const bytes = method === 'HEAD' ? 0 : (reply.body?.length ?? 0);
  // Always send a response that is no larger than `overloaded`.
  if (claim.settle(bytes) || bytes <= (overloaded.body?.length ?? 0)) return reply;
  claim.settle(0);
  return overloaded;
}

/**
 * Abort reason of abandoned responses. All share one instance, because creating an error with its stack is expensive.
 */
const left = new Error('the client disconnected');

/** Error codes of responses that ended early because the client disconnected or the server aborted the response. */
const disconnectCodes = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR']);

/** Returns false for a request that the parser accepts although HTTP does not allow it. */
function wellFormed(message: IncomingMessage): boolean {
  const coding = message.headers['transfer-encoding'];
  // With a final transfer coding other than chunked, the end of the body is undefined (RFC 9112, section 6.3).
  if (coding !== undefined && !/(?:^|,)[ \t]*chunked$/i.test(coding)) return false;
  return message.httpVersionMajor === 1 && namesHost(message);
}

/**
 * Returns true if a request has exactly one Host header, or none in HTTP versions before 1.1 (RFC 9112, section 3.2).
 */
function namesHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** A part of the server that is closed with it. */
interface Closable<Result> {
  close(): Result;
}

async function close(
  server: Server,
  before: Closable<void> | null,
  { table, listening }: { table: ConnectionTable; listening: Closable<Promise<void>> | null },
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

/** Default limits on the connections of a server. */
const defaultConnectionBounds: ConnectionBounds = { total: 16_384, perClient: null, stallMs: 15_000 };
