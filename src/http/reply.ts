import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ErrorCode, errorBody, errorTable } from '../contract/errors.ts';
import type { LabelFreshness } from '../contract/freshness.ts';
import { allowedMethods, type HeaderList, httpDate, preflightHeaders } from './headers.ts';

/** A whole answer: what is sent for GET; HEAD sends the same without the body. */
export interface Reply {
  readonly status: number;
  /** Everything but `Date`. */
  readonly headers: HeaderList;
  /** Null where the status has no body: 204 and 304. */
  readonly body: Buffer | null;
}

/** An answer whose body is made while it is sent: as fast as the client takes it, and no faster. */
export interface StreamedReply {
  readonly status: number;
  /** Everything but `Date`. */
  readonly headers: HeaderList;
  /** Begins to work when it is first asked for a piece, and is ended early when the client leaves. */
  readonly stream: AsyncIterable<Uint8Array>;
}

/** Content type of every JSON answer. */
export const jsonType = 'application/json; charset=utf-8';

/** Sends a reply whose body is made while it is sent; resolves when it is sent, rejects when it cannot be whole. */
export async function sendStreamed(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, stream }: StreamedReply,
  now: number,
): Promise<void> {
  response.sendDate = false;
  response.writeHead(status, ['Date', httpDate(now), ...headers]);
  if (request.method === 'HEAD') response.end();
  // A body that fails is cut off, without the end that would make it look whole.
  else await pipeline(Readable.from(inPieces(stream), { objectMode: false, highWaterMark: pieceBytes }), response);
}

/** Bytes of a body that are handed over at once: also how far a streamed body is made ahead of what the client took. */
const pieceBytes = 64 * 1024;

async function* inPieces(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of stream) {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
}

/** Sends a reply. `now` (milliseconds since 1970) is the request's clock, so that `Date` agrees with what was judged. */
export function send(request: IncomingMessage, response: ServerResponse, reply: Reply, now: number): void {
  response.sendDate = false;
  response.writeHead(reply.status, ['Date', httpDate(now), ...reply.headers]);
  if (reply.body === null || request.method === 'HEAD') response.end();
  else sendPieces(response, reply.body);
}

/** Sends a body no faster than the client takes it, so that a client which takes nothing differs from a slow one. */
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

/** A reply with a body. */
export function withBody(status: number, contentType: string, body: Buffer, headers: HeaderList): Reply {
  return {
    status,
    headers: ['Content-Type', contentType, 'Content-Length', String(body.length), ...headers],
    body,
  };
}

/** A JSON reply. */
export function json(status: number, value: object, headers: HeaderList): Reply {
  return withBody(status, jsonType, Buffer.from(JSON.stringify(value)), headers);
}

/** The Error object of a code; `common` are the server's headers on every response. */
export function errorReply(
  code: ErrorCode,
  common: HeaderList,
  more: HeaderList = [],
  freshness?: LabelFreshness,
): Reply {
  return json(errorTable[code].status, errorBody(code, freshness), [...common, ...more]);
}

/** 405, the same on every path. */
export function methodNotAllowed(common: HeaderList): Reply {
  return errorReply('method_not_allowed', common, ['Allow', allowedMethods]);
}

/** 204, the same on every path; it has no body and so no Content-Length. */
export function preflight(common: HeaderList): Reply {
  return { status: 204, headers: [...common, ...preflightHeaders], body: null };
}
