import type { FactEnvelope } from '../contract/envelope.ts';
import { cacheSeconds } from '../contract/limits.ts';
import { type HeaderList, httpDate } from '../http/headers.ts';
import { jsonType, type Reply } from '../http/reply.ts';
import type { Coding } from '../http/representation/accept-encoding.ts';
import { encode } from '../http/representation/compress.ts';
import { describeLeak, findLeak, type Leak } from './privacy.ts';

/** Cache-Control of every response that may be cached (contract, "Limits"). */
export const cacheControl = `public, max-age=${cacheSeconds}`;

/** Error for a fact that must not be served because it contains an identity. */
export class PrivacyAlarm extends Error {
  readonly leak: Leak;

  constructor(leak: Leak) {
    super(`refused to publish: ${describeLeak(leak)}`);
    this.name = 'PrivacyAlarm';
    this.leak = leak;
  }
}

/** The bytes of one fact in one age bucket, which are built once. */
export interface Representation {
  /** The envelope as it was serialized, from which the page is rendered, so that the bytes and the page agree. */
  readonly envelope: FactEnvelope;
  readonly etag: string;
  readonly notModified: Reply;
  /** Returns the 200 response in a content coding; the response is created on the first request. */
  ok(coding: Coding): Reply;
}

/** Inputs of a representation. */
export interface RepresentationParts {
  readonly envelope: FactEnvelope;
  readonly etag: string;
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Build time, in milliseconds since 1970. */
  readonly builtAt: number;
  /** Headers of every response of the facts API. */
  readonly common: HeaderList;
}

/**
 * Replaces unpaired surrogates by U+FFFD, because an artifact may contain them and many clients reject such a document.
 */
export function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** Scans a fact for identities and serializes it. Throws PrivacyAlarm if the fact must not be served. */
export function represent({ envelope, etag, modifiedAt, builtAt, common }: RepresentationParts): Representation {
  const leak = findLeak(envelope);
  if (leak) throw new PrivacyAlarm(leak);
  const body = Buffer.from(JSON.stringify(envelope, wellFormed));
  const validators: HeaderList = [
    'ETag',
    etag,
    // `Last-Modified` is never later than `Date`, even if the clock of the artifact's writer was ahead.
    'Last-Modified',
    httpDate(Math.min(modifiedAt, builtAt)),
    'Cache-Control',
    cacheControl,
    'Vary',
    'Accept-Encoding',
    ...common,
  ];
  const made = new Map<Coding, Reply>();

  function make(coding: Coding): Reply {
    const bytes = encode(body, coding);
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    return {
      status: 200,
      headers: ['Content-Type', jsonType, 'Content-Length', String(bytes.length), ...codingHeader, ...validators],
      body: bytes,
    };
  }

  return {
    envelope,
    etag,
    notModified: { status: 304, headers: validators, body: null },
    ok(coding) {
      const known = made.get(coding);
      if (known) return known;
      const reply = make(coding);
      made.set(coding, reply);
      return reply;
    },
  };
}
