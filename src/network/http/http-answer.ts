import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { TakeOutcome } from '../../input/decoded-bytes.ts';
import { type JsonLimits, scanJson } from '../../input/json-budget.ts';
import { decodedCost, inputLimits, maxDecodedBytes, maxPieces } from '../../input/limits.ts';
import { systemCode } from '../../ops/errors.ts';
import { threadCpuMs } from '../../ops/process.ts';

/** Last phase that a request reached. */
export type HttpPhase = 'dns' | 'connect' | 'tls' | 'answer';

/** Reason why a request has no usable response. */
export type HttpFailure =
  /** The URL's syntax or scheme is not allowed. */
  | { readonly kind: 'bad_url'; readonly why: string }
  /** The address is private, loopback or otherwise not public. No connection was made. */
  | { readonly kind: 'refused_address'; readonly why: string }
  /**
   * The connection failed; `code` is the code of the system or the TLS library (`ENOTFOUND`, `ECONNREFUSED`,
   * `CERT_HAS_EXPIRED`).
   */
  | { readonly kind: 'dns' | 'tls' | 'connect'; readonly code: string }
  /** The response was not complete in time; `phase` is the last phase that the request reached. */
  | { readonly kind: 'timeout'; readonly phase: HttpPhase }
  /** Limits of this client prevented the request. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' }
  /**
   * The response exceeds a limit: on the bytes of the headers, on the bytes of the encoded or decoded body, or on the
   * elements or the depth of its JSON.
   */
  | { readonly kind: 'too_large' };

/** A response with a status other than 200, including redirects, which are never followed. */
export interface HttpStatus {
  readonly kind: 'status';
  readonly status: number;
  /** Delay that the peer requested, in milliseconds and without an upper limit; null if the peer requested no delay. */
  readonly retryAfterMs: number | null;
  /** XRPC error name in the JSON body, or null if the body contains no error name. */
  readonly error: string | null;
}

/** A response as received, within the size limits. */
export interface RawAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Body before decoding. Null if the body exceeded its limit and the status is not 200. */
  readonly body: Buffer | null;
}

/**
 * Returns the time of the `Date` header (the peer's clock, precise to the second) in milliseconds since 1970. Returns
 * null if the header is missing or invalid.
 */
export function answerDate(headers: IncomingHttpHeaders): number | null {
  return httpDate(headers.date);
}

/**
 * Reads a response with a status other than 200. `now` is this machine's time in milliseconds since 1970, used if the
 * peer sends no date.
 */
export function readStatus({ status, headers, body }: RawAnswer, now: number): HttpStatus {
  return {
    kind: 'status',
    status,
    retryAfterMs: retryAfter(headers, now),
    error: body === null ? null : xrpcError(headers, body),
  };
}

function retryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const text = headers['retry-after'];
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = httpDate(text);
  return at === null ? null : Math.max(0, at - (answerDate(headers) ?? now));
}

/**
 * Parses an HTTP date in the only form that is still generated (RFC 9110, IMF-fixdate). Returns null for other forms.
 */
function httpDate(text: string | undefined): number | null {
  if (text === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

function xrpcError(headers: IncomingHttpHeaders, body: Buffer): string | null {
  const decoded = decodeBody(headers, body, maxErrorBytes);
  if (decoded.kind !== 'decoded') return null;
  if (scanJson(decoded.bytes, inputLimits.errorBody).fault !== null) return null;
  const parsed = parseJson(decoded.bytes);
  if (parsed === null || typeof parsed.value !== 'object' || parsed.value === null) return null;
  const name = 'error' in parsed.value ? parsed.value.error : null;
  // Accept only error names, which are short and have no spaces; other values are free text.
  return typeof name === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name) ? name : null;
}

/** Maximum size in bytes of an error body that is read to find the error's name. */
export const maxErrorBytes = inputLimits.errorBody.bytes;

/** Result of decoding the content coding of a body. */
type Decoded =
  | { readonly kind: 'decoded'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'undecodable' };

/**
 * Decodes the content coding of a body. Limits the result to `maxBytes` and to a multiple of the body's length.
 * Decoding is synchronous: even the largest body takes only about 30 ms, less than parsing its JSON takes.
 * Asynchronous decoding would use the thread pool, which name resolutions may occupy.
 */
export function decodeBody(headers: IncomingHttpHeaders, body: Buffer, maxBytes: number): Decoded {
  const options = { maxOutputLength: maxDecodedBytes(body.length, maxBytes) };
  try {
    switch (headers['content-encoding']?.trim().toLowerCase() ?? 'identity') {
      case 'identity':
      case '':
        return body.length > maxBytes ? { kind: 'too_large' } : { kind: 'decoded', bytes: body };
      case 'gzip':
      case 'x-gzip':
        return { kind: 'decoded', bytes: gunzipSync(body, options) };
      case 'deflate':
        return {
          kind: 'decoded',
          bytes: zlibWrapped(body) ? inflateSync(body, options) : inflateRawSync(body, options),
        };
      case 'br':
        return { kind: 'decoded', bytes: brotliDecompressSync(body, options) };
      default:
        return { kind: 'undecodable' };
    }
  } catch (error) {
    return { kind: systemCode(error) === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'undecodable' };
  }
}

/** Returns true if a `deflate` body has the zlib wrapper, which some servers omit. */
function zlibWrapped(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

/** Returns the text of UTF-8 bytes, or null if the bytes are not UTF-8. */
export function parseText(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Cost of reading a response. */
export interface ReadCost {
  /** Number of decoded bytes, or their maximum if decoding failed; 0 for work after the decoding. */
  readonly bytes: number;
  /** Processor time of this thread, in milliseconds. */
  readonly cpuMs: number;
}

/**
 * Decodes a body like `decodeBody`, and charges its cost: the decoded bytes, or their maximum if decoding fails, and
 * the processor time. A few bytes of a compressed body may cost as much as a large body.
 */
export function decodeCharged(
  headers: IncomingHttpHeaders,
  body: Buffer,
  maxBytes: number,
  charge: (cost: ReadCost) => void,
): Decoded {
  const begun = threadCpuMs();
  const decoded = decodeBody(headers, body, maxBytes);
  const bytes = decoded.kind === 'decoded' ? decoded.bytes.length : maxDecodedBytes(body.length, maxBytes);
  charge({ bytes, cpuMs: threadCpuMs() - begun });
  return decoded;
}

/** Limits for parsing a response. */
export interface ParseOptions {
  /** Limits on the shape of the JSON, checked on its bytes; default: `inputLimits.otherJson`. */
  readonly shape?: JsonLimits;
  /**
   * Requests memory before the bytes are parsed. The arguments are an upper estimate of the memory of the parsed
   * value, and the length of the bytes. The bytes are parsed only if the promise resolves with `taken`; otherwise
   * they are discarded. Must not reject.
   */
  readonly admit?: (decodedBytes: number, length: number) => Promise<TakeOutcome>;
  /** Called with the cost of each part of the work, whether or not the response can be used. */
  readonly charge?: (cost: ReadCost) => void;
}

/** Parses the decoded bytes of a JSON body within its limits. Resolves with the value or the reason for a failure. */
export async function readJson(
  bytes: Buffer,
  { shape = inputLimits.otherJson, admit, charge }: ParseOptions,
): Promise<
  { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'not_json' | 'too_large' | 'busy' | 'aborted' }
> {
  let begun = threadCpuMs();
  const { fault, elements } = scanJson(bytes, shape);
  charge?.({ bytes: 0, cpuMs: threadCpuMs() - begun });
  if (fault !== null) return { kind: 'too_large' };
  const admission = (await admit?.(decodedCost(bytes.length, elements), bytes.length)) ?? 'taken';
  if (admission !== 'taken') return { kind: admission };
  begun = threadCpuMs();
  const parsed = parseJson(bytes);
  charge?.({ bytes: 0, cpuMs: threadCpuMs() - begun });
  return parsed ? { kind: 'json', value: parsed.value } : { kind: 'not_json' };
}

/**
 * Parses the bytes as one JSON value, which is boxed so that `null` is a value. Returns null if the bytes are not
 * exactly one JSON value.
 */
function parseJson(bytes: Buffer): { readonly value: unknown } | null {
  const text = parseText(bytes);
  if (text === null) return null;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/** Initial capacity in bytes; most responses are smaller. */
const firstCapacity = 16 * 1024;

/**
 * Bytes of a body that arrive in pieces. All pieces are copied into one buffer, because a separate buffer for a piece
 * of one byte would occupy about 200 bytes of memory.
 */
export class BodyBytes {
  readonly #limit: number;
  #bytes = Buffer.allocUnsafeSlow(0);
  #length = 0;
  #pieces = 0;

  /** `limit` is the maximum length in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of received bytes. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds a piece. Returns false without adding the piece if the body becomes too long or consists of too many pieces
   * for its length.
   */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    this.#pieces += 1;
    if (length > this.#limit || this.#pieces > maxPieces(length)) return false;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(piece, this.#length);
    this.#length = length;
    return true;
  }

  /** Returns the bytes; no piece may be added afterwards. */
  whole(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const capacity = Math.min(this.#limit, Math.max(length, 2 * this.#bytes.length, firstCapacity));
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
