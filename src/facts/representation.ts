import { createHash } from 'node:crypto';
import type { FactEnvelope } from '../contract/envelope.ts';
import { bucketSeconds, cacheSeconds } from '../contract/limits.ts';
import { type HeaderList, httpDate, jsonType, type Reply } from '../http/reply.ts';
import { type Coding, encode } from '../http/representation/codings.ts';
import { describeLeak, findLeak, type Leak } from './privacy.ts';

/** `Cache-Control` value of every cacheable response (contract, "Limits"). */
export const cacheControl = `public, max-age=${cacheSeconds}`;

/** Error for a fact that must not be served because it contains an identity (DID, AT-URI or handle). */
export class PrivacyAlarm extends Error {
  readonly leak: Leak;

  constructor(leak: Leak) {
    super(`refused to publish: ${describeLeak(leak)}`);
    this.name = 'PrivacyAlarm';
    this.leak = leak;
  }
}

/** The serialized bytes of one fact in one age bucket, which are built only once. */
export interface Representation {
  /** Envelope from which the bytes were serialized. The page is rendered from it, so that page and bytes agree. */
  readonly envelope: FactEnvelope;
  readonly etag: string;
  readonly notModified: Reply;
  /** Returns the 200 response in a content coding. The response is created on the first request for that coding. */
  ok(coding: Coding): Reply;
}

/** Inputs of a representation. */
interface RepresentationParts {
  readonly envelope: FactEnvelope;
  readonly etag: string;
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Time at which the representation is built, in milliseconds since 1970. */
  readonly builtAt: number;
  /** Headers that every response of the facts API has. */
  readonly common: HeaderList;
}

/**
 * Replaces unpaired surrogates in a string with U+FFFD, because an artifact may contain them and many clients reject
 * such JSON. Returns any other value unchanged. Passed to `JSON.stringify`.
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
    // Limit `Last-Modified` to the build time: the clock of the artifact's writer may be ahead.
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

/**
 * Returns the weak validator of a fact. It depends only on the contract, the artifact's bytes and the age bucket, so it
 * is equal in all processes, nodes and content codings.
 */
export function entityTag(contract: string, artifactDigest: string, bucket: number): string {
  const token = createHash('sha256').update(`${contract}\n${artifactDigest}\n${bucket}`).digest('base64url');
  return `W/"${token.slice(0, 27)}"`;
}

/** Returns the age bucket of an age in seconds. Negative ages have negative buckets. */
export function ageBucket(ageSeconds: number): number {
  return Math.floor(ageSeconds / bucketSeconds);
}
