import { createHash } from 'node:crypto';
import type { FactEnvelope } from '../contract/envelope.ts';
import { isDid } from '../contract/identifiers.ts';
import { bucketSeconds, cacheSeconds } from '../contract/limits.ts';
import { findIdentity, type IdentityPlaces, type IdentityShape } from '../contract/privacy/find-identity.ts';
import { collectionNames } from '../contract/vocabulary.ts';
import type { ReadRequest } from '../http/read-request.ts';
import { type HeaderList, httpDate, jsonType, type Reply } from '../http/reply.ts';
import { type Coding, chooseCoding, codedReplies, matchesEntityTag } from '../http/representation/negotiation.ts';

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

/** A cacheable response to GET, with its validator. */
export interface Cacheable {
  readonly etag: string;
  readonly notModified: Reply;
  /** Returns the 200 response in a content coding. The response is created on the first request for that coding. */
  ok(coding: Coding): Reply;
}

/** The serialized bytes of one fact in one age bucket, which are built only once. */
export interface Representation extends Cacheable {
  /** Envelope from which the bytes were serialized. The page is rendered from it, so that page and bytes agree. */
  readonly envelope: FactEnvelope;
}

/** Times of a response and its headers besides the validators. */
interface CacheableParts {
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Time at which the response is built, in milliseconds since 1970. */
  readonly builtAt: number;
  readonly headers: HeaderList;
}

/** Creates a cacheable response from a body that was made from an artifact. `coded` determines when it is compressed. */
export function cacheable(
  etag: string,
  { contentType, body }: { readonly contentType: string; readonly body: Buffer },
  parts: CacheableParts,
  coded = codedReplies,
): Cacheable {
  const headers = [
    'ETag',
    etag,
    // Limit `Last-Modified` to the build time: the clock of the artifact's writer may be ahead.
    'Last-Modified',
    httpDate(Math.min(parts.modifiedAt, parts.builtAt)),
    ...['Cache-Control', cacheControl, 'Vary', 'Accept-Encoding'],
    ...parts.headers,
  ];
  return { etag, notModified: { status: 304, headers, body: null }, ok: coded({ contentType, body, headers }) };
}

/** Returns a 304 or 200 response, depending on the conditional headers of the request. */
export function conditionalReply(
  { etag, notModified, ok }: Cacheable,
  { ifNoneMatch, acceptEncoding }: Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding'>,
): Reply {
  return matchesEntityTag(ifNoneMatch, etag) ? notModified : ok(chooseCoding(acceptEncoding));
}

/**
 * Headers of a page about the present. All content comes from this origin and none is inline; the scripts may request
 * only this origin. No cache may store the page, because a cached page could show outdated facts.
 */
const pageHeaders: HeaderList = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Vary',
  'Accept-Encoding',
];

/** Returns the response to a request for a page about the present that was rendered once. */
export function htmlReplies(html: string, common: HeaderList): (coding: Coding) => Reply {
  const headers = [...pageHeaders, ...common];
  return codedReplies({ contentType: 'text/html; charset=utf-8', body: Buffer.from(html), headers });
}

/**
 * Serializes a value as JSON. Replaces unpaired surrogates in strings with U+FFFD, because an artifact may contain them
 * and many clients reject such JSON.
 */
export function wellFormedJson(value: object): Buffer {
  const wellFormed = (_key: string, part: unknown): unknown => (typeof part === 'string' ? part.toWellFormed() : part);
  return Buffer.from(JSON.stringify(value, wellFormed));
}

/** Scans a fact for identities and serializes it. Throws PrivacyAlarm if the fact must not be served. */
export function represent(envelope: FactEnvelope, etag: string, parts: CacheableParts): Representation {
  const leak = findLeak(envelope);
  if (leak) throw new PrivacyAlarm(leak);
  return { envelope, ...cacheable(etag, { contentType: jsonType, body: wellFormedJson(envelope) }, parts) };
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

/**
 * The privacy scan is the last check that no aggregate fact names a subject. An instrument should never write such a
 * name. If an artifact contains one, the whole fact is refused, and the alarm states the location but never the
 * content.
 */

/** Location of an identity in a body that must not contain one. */
interface Leak {
  /** JSON pointer (RFC 6901) to the value, or to the object whose key contains the identity. */
  readonly pointer: string;
  readonly shape: IdentityShape;
}

/** Describes a leak for the operator without quoting the identity. */
export function describeLeak({ shape, pointer }: Leak): string {
  const what = {
    did: 'a DID',
    'at-uri': 'an AT-URI',
    handle: 'a handle',
    encoded: 'text with too many nested encodings',
  };
  return `${what[shape]} is at ${pointer}`;
}

const placesInFacts: IdentityPlaces = { dids: /^\/facts\/top_labelers_7d\/\d+\/labeler_did$/, handles: null };

/**
 * Returns the location of the first identity in the body of a fact; null if there is none. DIDs of labelers in their
 * own fields, and the name of the observed host, are allowed.
 */
export function findLeak(body: object): Leak | null {
  return scan(body, '', { places: placesInFacts, hosts: endpointHosts(body) });
}

/**
 * Returns the location of the first identity in a part of a body, outside the allowed places; null if there is none.
 */
export function findLeakExcept(places: IdentityPlaces, value: unknown, pointer = ''): Leak | null {
  return scan(value, pointer, { places, hosts: noHosts });
}

const noHosts: ReadonlySet<string> = new Set();
/** Matches pointers to contract and schema ids, which are fixed and contain dots. */
const identifiers = /^\/(?:contract|provenance\/artifact_schema_version)$/;
const collections: ReadonlySet<string> = new Set(collectionNames);

interface Allowed {
  readonly places: IdentityPlaces;
  /** Host names that the body states as its source, which the scan must not report as handles. */
  readonly hosts: ReadonlySet<string>;
}

function scan(value: unknown, pointer: string, allowed: Allowed): Leak | null {
  if (typeof value === 'string') return scanText(value, pointer, allowed);
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, entry] of Object.entries(value)) {
    const inKey = collections.has(key) ? null : scanText(key, pointer, allowed);
    const leak = inKey ?? scan(entry, `${pointer}/${key}`, allowed);
    if (leak) return leak;
  }
  return null;
}

function scanText(text: string, pointer: string, { places, hosts }: Allowed): Leak | null {
  const shape = findIdentity(text, hosts);
  if (shape === null) return null;
  if (shape === 'did' && places.dids.test(pointer) && isDid(text)) return null;
  if (shape !== 'handle') return { pointer, shape };
  return identifiers.test(pointer) || places.handles?.test(pointer) === true ? null : { pointer, shape };
}

/**
 * Returns a set with the host that an instrument observed, which is the only host name that the contract publishes. The
 * set is empty if the body states no valid URL of a host.
 */
function endpointHosts(body: object): ReadonlySet<string> {
  const { provenance } = body as { readonly provenance?: { readonly source_endpoint?: unknown } };
  const endpoint = provenance?.source_endpoint;
  const url = typeof endpoint === 'string' ? URL.parse(endpoint) : null;
  return new Set(url ? [url.hostname.toLowerCase()] : []);
}
