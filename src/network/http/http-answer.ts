import type { IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { TakeOutcome } from '../../input/decoded-bytes.ts';
import { type JsonLimits, scanJson } from '../../input/json-budget.ts';
import { decodedCost, inputLimits, maxDecodedBytes } from '../../input/limits.ts';
import { systemCode } from '../../ops/errors.ts';

/** Last phase that an attempt reached. */
export type HttpPhase = 'dns' | 'connect' | 'tls' | 'answer';

/** Why there is no answer to speak of. */
export type HttpFailure =
  /** Not an address this guard asks at all: its syntax or scheme. */
  | { readonly kind: 'bad_url'; readonly why: string }
  /** Private, loopback or otherwise not public. Nothing was connected to. */
  | { readonly kind: 'refused_address'; readonly why: string }
  /** `code` is the system's or the TLS library's (`ENOTFOUND`, `ECONNREFUSED`, `CERT_HAS_EXPIRED`). */
  | { readonly kind: 'dns' | 'tls' | 'connect'; readonly code: string }
  /** The whole answer was not there in time; `phase` is where it hung. */
  | { readonly kind: 'timeout'; readonly phase: HttpPhase }
  /** Our own limits: no request was sent. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'aborted' }
  /** More than allowed: bytes of headers, of the body as sent or decoded, or elements or depth of its JSON. */
  | { readonly kind: 'too_large' };

/** An answer with a status other than 200; redirects are such answers and never followed. */
export interface HttpStatus {
  readonly kind: 'status';
  readonly status: number;
  /** Waiting time that the peer requested, in milliseconds; not bounded. */
  readonly retryAfterMs: number | null;
  /** The XRPC error name, where the body is such JSON. */
  readonly error: string | null;
}

/** An answer as it came, within its limits. */
export interface RawAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Null where the body exceeded its limit and the status is not 200. */
  readonly body: Buffer | null;
}

/** The `Date` header in milliseconds since 1970: the peer's clock, to the second. */
export function answerDate(headers: IncomingHttpHeaders): number | null {
  return httpDate(headers.date);
}

/**
 * Reads a response with a status other than 200; `now` is our clock in milliseconds, used if the peer sends no date.
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

/** Only the one form of HTTP dates that is still made (RFC 9110, IMF-fixdate). */
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
  // Error names are short and have no spaces; anything else is free text.
  return typeof name === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(name) ? name : null;
}

/** Maximum bytes of an error's body that are read to find the error's name. */
export const maxErrorBytes = inputLimits.errorBody.bytes;

/** A body without its content coding. */
export type Decoded =
  | { readonly kind: 'decoded'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'undecodable' };

/**
 * Undoes the one content coding of a body, up to `maxBytes` and to a multiple of its length. Synchronous: the largest body
 * takes about 30 ms, less than its JSON, and the thread pool of the asynchronous forms may be full of name resolutions.
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

/** Some servers send `deflate` without the wrapping it should have. */
function zlibWrapped(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}

/** The text of UTF-8 bytes, or null where they are not UTF-8. */
export function parseText(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Bounds of parsing an answer. */
export interface ParseOptions {
  /** Depth and elements of the JSON (`inputLimits.otherJson`); checked on the bytes. */
  readonly shape?: JsonLimits;
  /**
   * Asked before the bytes become objects, with an upper estimate of the memory that these take and the length of the
   * bytes: parses when it resolves with `taken`, and otherwise drops the bytes. Never rejects.
   */
  readonly admit?: (decodedBytes: number, length: number) => Promise<TakeOutcome>;
}

/** The JSON value of a body within its limits. */
export async function readJson(
  bytes: Buffer,
  { shape = inputLimits.otherJson, admit }: ParseOptions,
): Promise<
  { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'not_json' | 'too_large' | 'busy' | 'aborted' }
> {
  const { fault, elements } = scanJson(bytes, shape);
  if (fault !== null) return { kind: 'too_large' };
  const admission = (await admit?.(decodedCost(bytes.length, elements), bytes.length)) ?? 'taken';
  if (admission !== 'taken') return { kind: admission };
  const parsed = parseJson(bytes);
  return parsed ? { kind: 'json', value: parsed.value } : { kind: 'not_json' };
}

/** The one JSON value that the bytes are, boxed so that `null` is a value; null where they are anything else. */
function parseJson(bytes: Buffer): { readonly value: unknown } | null {
  const text = parseText(bytes);
  if (text === null) return null;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}
