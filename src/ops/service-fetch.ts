import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { PassThrough, pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { maxInformational, maxPieces } from '../input/limits.ts';

/** Decoders of response bodies, by content coding. */
const decoders: Readonly<Record<string, () => Transform>> = {
  '': () => new PassThrough(),
  identity: () => new PassThrough(),
  gzip: () => createGunzip(),
  br: () => createBrotliDecompress(),
};

/** Statuses of redirects. */
const redirecting = [301, 302, 303, 307, 308];
/** Maximum number of redirects that one request follows. */
const maxRedirects = 20;

/** Statuses of responses that have no body. */
const bodiless = [204, 205, 304];

/**
 * Implements the part of `fetch` that requests to an operator's services need: GET with headers, a signal and
 * redirects. Node's `fetch` rejects a response with more than five content codings but keeps its body, whose next error
 * ends the process. This function accepts at most one coding, and rejects all other responses.
 */
export const serviceFetch: typeof globalThis.fetch = async (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const headers = new Headers({ 'Accept-Encoding': 'gzip, br' });
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  const { signal } = init;
  for (let place = url, redirects = 0; ; redirects += 1) {
    signal?.throwIfAborted();
    const response = answerOf(await requested(place, Object.fromEntries(headers), signal ?? undefined));
    const next = redirecting.includes(response.status) ? response.headers.get('location') : null;
    if (next === null || init.redirect === 'manual') return response;
    await response.body?.cancel();
    if (redirects === maxRedirects) throw new TypeError('too many redirects');
    place = new URL(next, place);
  }
};

function requested(url: URL, headers: Record<string, string>, signal?: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    // Keep the error listener for the whole exchange, so that no later error is unhandled.
    const failed = (cause: Error): void => reject(new TypeError('the request failed', { cause }));
    const request = send(url, { headers, ...(signal ? { signal } : {}) })
      .on('response', resolve)
      .on('error', failed);
    // If the server switches to another protocol, Node closes the request without a response and without an error.
    request.on('close', () => failed(Object.assign(new Error('no response'), { code: 'ECONNRESET' })));
    let informed = 0;
    request.on('information', () => {
      informed += 1;
      if (informed > maxInformational) request.destroy(new TypeError('too many informational responses'));
    });
    request.end();
  });
}

function answerOf(message: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const decoder = decoders[(headers.get('content-encoding') ?? '').trim().toLowerCase()];
  if (!decoder || status < 200 || status > 599) {
    message.on('error', () => undefined).destroy();
    throw new TypeError(decoder ? `the status ${status} is not valid` : 'the content coding is not supported');
  }
  if (bodiless.includes(status)) {
    message.on('error', () => undefined).resume();
    return new Response(null, { status, headers });
  }
  let [pieces, bytes] = [0, 0];
  message.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    if (pieces > maxPieces(bytes)) message.destroy(new TypeError('the body arrives in too many pieces'));
  });
  // An error of either stream reaches the reader of the response, so the callback ignores it.
  const decoded = pipeline(message, decoder(), () => undefined);
  return new Response(Readable.toWeb(decoded) as ReadableStream<Uint8Array>, { status, headers });
}
