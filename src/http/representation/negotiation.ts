import { brotliCompress, brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type HeaderList, type Reply, withBody } from '../reply.ts';

/** Supported content codings, ordered from the best compression to none. */
export const codings = ['br', 'gzip', 'identity'] as const;

/** A content coding (RFC 9110, section 8.4.1). */
export type Coding = (typeof codings)[number];

const member = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/;

/** Maximum length of a parsed header, in characters. A longer header selects identity. */
const longest = 1024;

/**
 * Returns the content coding for a response (RFC 9110, section 12.5.3): the coding with the highest weight or, for
 * equal weights, the best compression. Returns identity if the header is absent, malformed or too long, or rejects
 * every coding.
 */
export function chooseCoding(header: string | undefined): Coding {
  if (header === undefined || header.length > longest) return 'identity';
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    if (part.trim() === '') continue;
    const match = member.exec(part);
    if (!match) return 'identity';
    weights.set((match[1] ?? '').toLowerCase(), match[2] === undefined ? 1 : Number(match[2]));
  }
  const any = weights.get('*');
  let best: Coding = 'identity';
  let bestWeight = weights.get('identity') ?? 0;
  for (const coding of ['gzip', 'br'] as const) {
    const weight = weights.get(coding) ?? any ?? 0;
    if (weight > 0 && weight >= bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

/**
 * Brotli level of bodies that are encoded while a client waits: 1 ms for 35 kB. Level 9 takes 50 to 150 ms for any body,
 * because it initialises a large table first, and saves less than 1 %.
 */
const promptLevel = 6;

/** Maximum size in bytes of a body that gzip compresses at its highest level. */
const smallBytes = 32 * 1024;

/** Encodes bytes in a content coding. Callers cache the result. */
export function encode(bytes: Buffer, coding: Coding): Buffer {
  switch (coding) {
    case 'identity':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, { level: bytes.length > smallBytes ? 6 : 9 });
    case 'br':
      return brotliCompressSync(bytes, brotliOptions(bytes, promptLevel));
  }
}

/**
 * Encodes bytes with Brotli at its highest level, in a thread. The result is about a tenth smaller than at
 * `promptLevel`, for 1 ms of processor time per kilobyte.
 */
export const encodeSmallest = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = brotliOptions(bytes, constants.BROTLI_MAX_QUALITY);
    brotliCompress(bytes, options, (error, smallest) => (error === null ? resolve(smallest) : reject(error)));
  });

function brotliOptions(bytes: Buffer, level: number) {
  return {
    params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  };
}

/**
 * Minimum size in bytes of a body that is encoded for a single request. A smaller body fits into one network packet
 * even if it is not encoded.
 */
const fewBytes = 1_400;

/**
 * Encodes a body that is sent only once, and returns it with the coding used. The levels are low, so that a page of
 * 80 kB takes 0.3 ms of processor time. A small body is not encoded.
 */
export function encodeOnce(bytes: Buffer, coding: Coding): { readonly bytes: Buffer; readonly coding: Coding } {
  if (bytes.length < fewBytes || coding === 'identity') return { bytes, coding: 'identity' };
  if (coding === 'gzip') return { bytes: gzipSync(bytes, { level: 2 }), coding };
  return { bytes: brotliCompressSync(bytes, brotliOptions(bytes, 3)), coding };
}

/** Parts of a 200 response that are the same in every content coding. */
interface CodedParts {
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers: HeaderList;
}

/** Returns a function that returns a 200 response in a content coding. Its body is encoded once in each coding. */
export function codedReplies(
  { contentType, body, headers }: CodedParts,
  encodeBody = encode,
): (coding: Coding) => Reply {
  const made = new Map<Coding, Reply>();
  return (coding) => {
    const known = made.get(coding);
    if (known) return known;
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const reply = withBody(200, contentType, encodeBody(body, coding), [...codingHeader, ...headers]);
    made.set(coding, reply);
    return reply;
  };
}

/** Matches one list member: an entity tag, or any other text up to the next comma (RFC 9110, section 8.8.3). */
const tagMember = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\uffff]*")[ \t]*(?=,|$)|[^,]*)(?:,|$)/y;

/**
 * Returns true if an `If-None-Match` header contains the entity tag, by weak comparison (RFC 9110, section 13.1.2).
 * Supports lists, weak tags and `*`. A malformed member matches nothing.
 */
export function matchesEntityTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  const wanted = opaque(etag);
  tagMember.lastIndex = 0;
  while (tagMember.lastIndex < header.length) {
    const match = tagMember.exec(header);
    if (!match) return false;
    if (match[1] === wanted) return true;
  }
  return false;
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}

/** A byte range of a body; `from` is inclusive, `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const oneRange = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Returns the range of a body that a `Range` header requests (RFC 9110, section 14). Returns null, which selects the
 * whole body, if the header is absent or malformed, has a unit other than bytes, or requests several ranges. Returns
 * `unsatisfiable` if the body has no byte of the range.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const match = header === undefined ? null : oneRange.exec(header);
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return null;
    const suffix = Number(last);
    return suffix === 0 || bytes === 0 ? 'unsatisfiable' : { from: Math.max(0, bytes - suffix), to: bytes };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= bytes) return 'unsatisfiable';
  return { from, to: last === '' ? bytes : Math.min(bytes, Number(last) + 1) };
}
