import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../contract/errors.ts';
import { inputLimits } from '../input/limits.ts';
import { errorReply, type HeaderList, httpDate } from './reply.ts';

/** Limits of the HTTP server on headers and connections. They protect other clients from a slow or greedy client. */
export const httpLimits = {
  /** Maximum size of the request target and headers together, in bytes. */
  maxHeaderBytes: inputLimits.httpRequest.bytes,
  /** Maximum number of header fields of a request. */
  maxHeadersCount: inputLimits.httpRequest.fields,
  /** Maximum time until the headers of a request have arrived, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** Maximum time until a complete request has arrived, in milliseconds. */
  requestTimeoutMs: 20_000,
  /**
   * Time after which an idle connection is closed, in milliseconds; longer than the keep-alive time of common proxies.
   */
  keepAliveTimeoutMs: 75_000,
  /** Interval between two checks of the timeouts above, in milliseconds. */
  checkEveryMs: 1_000,
} as const;

/** Time for which a refused connection is still read before it is closed, in milliseconds. */
const lingerMs = 2_000;

const answered = new WeakSet<Duplex>();

/** Maps an error of the HTTP parser to an error code; null if no response is possible. */
export function codeOfParserError(error: Error): ErrorCode | null {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET' || code === 'EPIPE') return null;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_HEADER_OVERFLOW') return overflowedInTarget(error) ? 'uri_too_long' : 'headers_too_large';
  return 'bad_request';
}

/**
 * Returns true if the parser reached its limit within the request target. The limit applies to the target and the
 * headers together.
 */
function overflowedInTarget(error: Error): boolean {
  if (!('rawPacket' in error) || !Buffer.isBuffer(error.rawPacket)) return false;
  const start = error.rawPacket.subarray(0, 32 * 1024).toString('latin1');
  const target = /^[A-Z]+ (\S*)/.exec(start)?.[1];
  return target !== undefined && (target.length >= httpLimits.maxHeaderBytes || /^[A-Z]+ \S*$/.test(start));
}

/**
 * Sends an error response on a connection whose request could not be parsed, unless an error was already sent on it.
 * The connection is read for another `lingerMs` before it is closed, because closing it at once could reset it and
 * discard the response. A connection on which no response is possible is closed at once.
 */
export function answerParserError(error: Error, socket: Duplex, common: HeaderList, now: number): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  const code = codeOfParserError(error);
  if (code === null || !socket.writable) {
    socket.destroy();
    return;
  }
  answerRaw(socket, code, common, now);
}

/** Writes an error response directly to a connection and closes the connection after `lingerMs`. */
export function answerRaw(
  socket: Duplex,
  code: ErrorCode,
  common: HeaderList,
  now: number,
  more: HeaderList = [],
): void {
  const { status, headers, body } = errorReply(code, common, more);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, `Date: ${httpDate(now)}`, 'Connection: close'];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body?.toString('utf8') ?? ''}`);
  lingerOn(socket);
}

/**
 * Closes a connection without a response, because the client would match a second response to another request. Does
 * nothing if an error was already sent on the connection.
 */
export function endQuietly(socket: Duplex): void {
  if (answered.has(socket)) return;
  answered.add(socket);
  socket.end();
  lingerOn(socket);
}

function lingerOn(socket: Duplex): void {
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  linger.unref();
  socket.once('close', () => clearTimeout(linger));
}

/** Maximum number of pipelined requests on a connection that have no complete response yet. */
export const maxPipelined = 64;

/** State of the requests and responses of one connection. */
interface Exchange {
  outstanding: number;
  latest: IncomingMessage;
  /**
   * True if the connection accepts no further request, because the client or the server has requested to close the
   * connection.
   */
  closing: boolean;
  /** Called once no response is pending. */
  afterwards: (() => void) | null;
  /** Resolves when every response before the newest one has been completed. */
  tail: Promise<void>;
}

/**
 * Decision on a request. A request is answered, ignored because the connection is closing, or rejected because too many
 * requests are pending.
 */
type Admission =
  | { readonly kind: 'answer'; readonly turn: Promise<void> }
  | { readonly kind: 'ignore' }
  | { readonly kind: 'too_many' };

/** Tracks the requests and responses of each connection and ensures that responses are sent in order. */
export class Exchanges {
  readonly #exchanges = new WeakMap<object, Exchange>();

  /**
   * Decides on a request. Ignores a request that follows a closing request (RFC 9112, section 9.6), and rejects a
   * request if `maxPipelined` requests are pending. `turn` resolves when all earlier responses on the connection are
   * complete, so that pipelined requests are processed in sequence.
   */
  begin(message: IncomingMessage, response: ServerResponse): Admission {
    const { socket } = message;
    const known = this.#exchanges.get(socket);
    if (known?.closing) return { kind: 'ignore' };
    if (known && known.outstanding >= maxPipelined) return { kind: 'too_many' };
    const exchange = known ?? {
      outstanding: 0,
      latest: message,
      closing: false,
      afterwards: null,
      tail: Promise.resolve(),
    };
    exchange.latest = message;
    exchange.outstanding += 1;
    exchange.closing = !response.shouldKeepAlive;
    this.#exchanges.set(socket, exchange);
    const turn = exchange.tail;
    exchange.tail = new Promise((resolve) => {
      response.once('close', () => {
        exchange.outstanding -= 1;
        resolve();
        if (exchange.outstanding > 0) return;
        const { afterwards } = exchange;
        exchange.afterwards = null;
        afterwards?.();
      });
    });
    return { kind: 'answer', turn };
  }

  /** Marks the response to the newest request as the last one on its connection. */
  close(socket: Duplex): void {
    const exchange = this.#exchanges.get(socket);
    if (exchange) exchange.closing = true;
  }

  /** Returns true if the connection accepts no further request. */
  isClosing(socket: Duplex): boolean {
    return this.#exchanges.get(socket)?.closing === true;
  }

  /** Returns true while the body of the newest request is incomplete. */
  isIncomplete(socket: Duplex): boolean {
    return this.#exchanges.get(socket)?.latest.complete === false;
  }

  /**
   * Calls `act` once all pending responses on a connection are complete, or at once if no response is pending. Until
   * then, the connection accepts no further request. Ignores `act` if the function of a previous call is still
   * waiting.
   */
  finish(socket: Duplex, act: () => void): void {
    const exchange = this.#exchanges.get(socket);
    if (!exchange || exchange.outstanding === 0) {
      act();
      return;
    }
    exchange.closing = true;
    exchange.afterwards ??= act;
  }
}
