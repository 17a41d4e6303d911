import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LabelFreshness } from '../contract/envelope.ts';
import { type ErrorCode, errorBody, errorTable } from '../contract/errors.ts';

/** A complete response to GET. The response to HEAD is the same without the body. */
export interface Reply {
  readonly status: number;
  /** All headers except `Date`. */
  readonly headers: HeaderList;
  /** Body of the response; null for the statuses 204 and 304. */
  readonly body: Buffer | null;
  /**
   * Length in bytes of a compressed body before its compression. Absent if the body is not compressed or was cached.
   */
  readonly plainLength?: number;
}

/** A response whose body is produced while it is sent, at the pace of the client. */
export interface StreamedReply {
  readonly status: number;
  /** All headers except `Date`. */
  readonly headers: HeaderList;
  /** Chunks of the body. Iteration starts with the first read and ends early if the client disconnects. */
  readonly stream: AsyncIterable<Uint8Array>;
  /**
   * Releases the resources of the stream. Called once when the response of a `FileAnswering` ends for any reason, even
   * if the stream was never read.
   */
  readonly release?: () => Promise<void>;
  /** Signal that aborts if the response must end before it is complete. The connection is then closed. */
  readonly cut?: AbortSignal;
}

/** Content type of every JSON response. */
export const jsonType = 'application/json; charset=utf-8';

/**
 * Sends a response whose body is produced while it is sent; for HEAD, sends only the headers. Resolves when the
 * response has been sent; rejects if it is incomplete.
 */
export async function sendStreamed(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, stream, cut }: StreamedReply,
  now: number,
): Promise<void> {
  response.sendDate = false;
  response.writeHead(status, ['Date', httpDate(now), ...headers]);
  if (request.method === 'HEAD') response.end();
  // If the body fails, the connection is aborted, so that the client does not mistake the response for a complete one.
  else {
    const pieces = Readable.from(inPieces(stream), { objectMode: false, highWaterMark: pieceBytes });
    await pipeline(pieces, response, cut === undefined ? {} : { signal: cut });
  }
}

/**
 * Size in bytes of the chunks in which a body is written; also the amount of a streamed body that is produced in
 * advance.
 */
const pieceBytes = 64 * 1024;

async function* inPieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
}

/**
 * Sends a response, without its body for HEAD. `now` is the time of the request in milliseconds since 1970, which
 * becomes the `Date` header.
 */
export function send(request: IncomingMessage, response: ServerResponse, reply: Reply, now: number): void {
  response.sendDate = false;
  response.writeHead(reply.status, ['Date', httpDate(now), ...reply.headers]);
  if (reply.body === null || request.method === 'HEAD') response.end();
  else sendPieces(response, reply.body);
}

/** Sends a body in chunks at the pace of the client, so that a stalled client can be distinguished from a slow one. */
function sendPieces(response: ServerResponse, body: Buffer): void {
  let at = 0;
  const more = (): void => {
    while (!response.destroyed) {
      const piece = body.subarray(at, at + pieceBytes);
      at += pieceBytes;
      if (at >= body.length) {
        response.end(piece);
        return;
      }
      if (!response.write(piece)) {
        response.once('drain', more);
        return;
      }
    }
  };
  more();
}

/** Creates a response with a body. */
export function withBody(status: number, contentType: string, body: Buffer, headers: HeaderList): Reply {
  return {
    status,
    headers: ['Content-Type', contentType, 'Content-Length', String(body.length), ...headers],
    body,
  };
}

/** Creates a JSON response. */
export function json(status: number, value: object, headers: HeaderList): Reply {
  return withBody(status, jsonType, Buffer.from(JSON.stringify(value)), headers);
}

/** Creates the error response for a code. `common` contains the headers that every response of the server has. */
export function errorReply(
  code: ErrorCode,
  common: HeaderList,
  more: HeaderList = [],
  freshness?: LabelFreshness,
): Reply {
  return json(errorTable[code].status, errorBody(code, freshness), [...common, ...more]);
}

/** Creates the 405 response, which is identical for every path. */
export function methodNotAllowed(common: HeaderList): Reply {
  return errorReply('method_not_allowed', common, ['Allow', allowedMethods]);
}

/**
 * Creates the 204 response to OPTIONS, which has no Content-Length. `requestHeaders` lists the headers that a page of
 * another origin may send.
 */
export function preflight(common: HeaderList, requestHeaders = 'If-None-Match'): Reply {
  return { status: 204, headers: [...common, ...preflightHeaders(requestHeaders)], body: null };
}

/** Value of the `Allow` header of a read-only service. */
export const allowedMethods = 'GET, HEAD, OPTIONS';

/** A flat list of header names and values, in the format of `ServerResponse.writeHead`. */
export type HeaderList = readonly string[];

/**
 * Returns the headers of every response, including errors and 304. The headers allow pages of any origin to read the
 * response and its headers named in `exposed`, and declare that byte ranges are not supported.
 */
export function commonHeaders(exposed: string): HeaderList {
  return [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    exposed,
    'X-Content-Type-Options',
    'nosniff',
    'Accept-Ranges',
    'none',
  ];
}

/**
 * Returns the headers of the response to OPTIONS, which includes CORS preflight requests. `requestHeaders` lists the
 * headers that a page of another origin may send.
 */
function preflightHeaders(requestHeaders: string): HeaderList {
  return [
    'Allow',
    allowedMethods,
    'Access-Control-Allow-Methods',
    allowedMethods,
    'Access-Control-Allow-Headers',
    requestHeaders,
    'Access-Control-Max-Age',
    '86400',
  ];
}

let second = Number.NaN;
let text = '';

/** Formats milliseconds since 1970 as an HTTP date (RFC 9110, section 5.6.7). The text is cached for one second. */
export function httpDate(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}
