import { isDid } from '../contract/identifiers.ts';
import { findIdentity, type IdentityShape } from '../contract/privacy/find-identity.ts';
import { collectionNames } from '../contract/vocabulary.ts';

/**
 * The privacy scan is the last check that no aggregate fact names a subject. An instrument should never write such a
 * name. If an artifact contains one, the whole fact is refused, and the alarm states the location but never the
 * content.
 */

/** Location of an identity in a body that must not contain one. */
export interface Leak {
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
