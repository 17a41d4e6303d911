import { createHash } from 'node:crypto';
import type { FactEnvelope } from '../contract/envelope.ts';
import { isDid } from '../contract/identifiers.ts';
import { bucketSeconds, cacheSeconds } from '../contract/limits.ts';
import { findIdentity, type IdentityShape } from '../contract/privacy/find-identity.ts';
import { collectionNames } from '../contract/vocabulary.ts';
import { type HeaderList, httpDate, jsonType, type Reply } from '../http/reply.ts';
import { type Coding, encode } from '../http/representation/negotiation.ts';

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

/** Returns the validators and the rules for caches of a body made from an artifact. Times are in milliseconds since 1970. */
export function validatorsOf(etag: string, times: Pick<RepresentationParts, 'modifiedAt' | 'builtAt'>): HeaderList {
  return [
    'ETag',
    etag,
    // Limit `Last-Modified` to the build time: the clock of the artifact's writer may be ahead.
    'Last-Modified',
    httpDate(Math.min(times.modifiedAt, times.builtAt)),
    'Cache-Control',
    cacheControl,
    'Vary',
    'Accept-Encoding',
  ];
}

/** Scans a fact for identities and serializes it. Throws PrivacyAlarm if the fact must not be served. */
export function represent({ envelope, etag, modifiedAt, builtAt, common }: RepresentationParts): Representation {
  const leak = findLeak(envelope);
  if (leak) throw new PrivacyAlarm(leak);
  const body = Buffer.from(JSON.stringify(envelope, wellFormed));
  const validators = [...validatorsOf(etag, { modifiedAt, builtAt }), ...common];
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

/** Places in a body where an identity is allowed, as patterns of JSON pointers. */
export interface IdentityPlaces {
  /** Places where DIDs of labelers are allowed. */
  readonly dids: RegExp;
  /** Places where handles of labelers are allowed; null if the body must not contain any handle. */
  readonly handles: RegExp | null;
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
