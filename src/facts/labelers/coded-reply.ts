import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { HeaderList } from '../../http/headers.ts';
import { type Reply, withBody } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/accept-encoding.ts';

/** Responses with bodies that are compressed often, or that are too large to compress while a client waits. */

/**
 * Brotli level for bodies that are compressed during a request. Its output is a twelfth smaller than the output of
 * level 4, and takes the same time.
 */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const gzipLevel = { level: 5 };

/**
 * Settings for bodies that only one request receives. These settings take half the processor time of the levels for
 * cached bodies, and produce a few percent more bytes.
 */
const brotliOnce = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };
const gzipOnce = { level: 3 };

/** Responses with the same body in every content coding. */
export interface CodedReplies {
  /** Size of the uncompressed body, in bytes. */
  readonly bytes: number;
  of(coding: Coding): Reply;
}

/** Parts of a response that are the same in every content coding. */
interface CodedParts {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly headers: HeaderList;
}

function replyOf({ status, contentType, headers }: CodedParts, coding: Coding, bytes: Buffer): Reply {
  const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
  return withBody(status, contentType, bytes, [...codingHeader, ...headers]);
}

/** Creates responses whose body is compressed on the first request for each content coding. */
export function codedOnRequest(parts: CodedParts): CodedReplies {
  const made = new Map<Coding, Reply>();
  return {
    bytes: parts.body.length,
    of(coding) {
      const known = made.get(coding);
      if (known) return known;
      const { body } = parts;
      const bytes =
        coding === 'br' ? brotliCompressSync(body, brotli) : coding === 'gzip' ? gzipSync(body, gzipLevel) : body;
      const reply = replyOf(parts, coding, bytes);
      made.set(coding, reply);
      return reply;
    },
  };
}

/** Creates the response with a body that only one request receives. */
export function codedOnce(parts: CodedParts, coding: Coding): Reply {
  const { body } = parts;
  const bytes =
    coding === 'br' ? brotliCompressSync(body, brotliOnce) : coding === 'gzip' ? gzipSync(body, gzipOnce) : body;
  return replyOf(parts, coding, bytes);
}

/**
 * Creates responses with a large body, whose compression in threads starts immediately. Until it is complete, responses
 * are uncompressed. `compressed` resolves when all compressed forms are complete.
 */
export function codedInBackground(parts: CodedParts): CodedReplies & { readonly compressed: Promise<void> } {
  const identity = replyOf(parts, 'identity', parts.body);
  const made = new Map<Coding, Reply>([['identity', identity]]);
  const kept = (coding: Coding, resolve: () => void) => (error: Error | null, bytes: Buffer) => {
    // If compression failed, keep sending the uncompressed body, which is correct for every client.
    if (error === null) made.set(coding, replyOf(parts, coding, bytes));
    resolve();
  };
  const compressed = Promise.all([
    new Promise<void>((resolve) => brotliCompress(parts.body, brotli, kept('br', resolve))),
    new Promise<void>((resolve) => gzip(parts.body, gzipLevel, kept('gzip', resolve))),
  ]).then(() => undefined);
  return { bytes: parts.body.length, of: (coding) => made.get(coding) ?? identity, compressed };
}
