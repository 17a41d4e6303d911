import type { TargetKind } from '../contract/vocabulary.ts';

/**
 * Parsing of a label's subject: the account that the label is about. A DID and all AT-URIs with that DID have the same
 * subject, so that labels of an account and labels of its records are found together.
 */

/** Parts of a label's `uri`; `joinUri` restores the exact text. */
export type UriParts =
  | { readonly kind: 'account'; readonly did: string }
  | { readonly kind: 'record'; readonly did: string; readonly collection: string; readonly rkey: string }
  /** An AT-URI whose path is not `collection/rkey`; `rest` is the text after the DID. */
  | { readonly kind: 'other'; readonly did: string; readonly rest: string };

const did = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/;
const prefix = 'at://';

/**
 * Splits a label's `uri`; returns null if it contains no DID (for example, an AT-URI with a handle, or a web address).
 */
export function splitUri(uri: string): UriParts | null {
  if (!uri.startsWith(prefix)) return did.test(uri) ? { kind: 'account', did: uri } : null;
  const slash = uri.indexOf('/', prefix.length);
  const authority = slash === -1 ? uri.slice(prefix.length) : uri.slice(prefix.length, slash);
  if (!did.test(authority)) return null;
  const end = slash === -1 ? -1 : uri.indexOf('/', slash + 1);
  // The path of a record has exactly two slashes, and its parts are not empty.
  const isRecord = end > slash + 1 && end < uri.length - 1 && uri.indexOf('/', end + 1) === -1;
  if (!isRecord) return { kind: 'other', did: authority, rest: uri.slice(prefix.length + authority.length) };
  return { kind: 'record', did: authority, collection: uri.slice(slash + 1, end), rkey: uri.slice(end + 1) };
}

/**
 * Returns true for an address inside a space, `at://DID/space/…`. The records of a space are not public, and a
 * published label would reveal that a record exists.
 */
export function isSpaceUri(uri: string): boolean {
  return /^at:\/\/[^/]+\/space(?:\/|$)/.test(uri);
}

/** Joins the parts of a `uri` into the exact original text. */
export function joinUri(parts: UriParts): string {
  if (parts.kind === 'account') return parts.did;
  return parts.kind === 'record'
    ? `${prefix}${parts.did}/${parts.collection}/${parts.rkey}`
    : `${prefix}${parts.did}${parts.rest}`;
}

/** NSID of the collection of posts. */
export const postCollection = 'app.bsky.feed.post';

/** Returns the target kind of a label with this `uri`. An AT-URI that is not a single record counts as a record. */
export function targetOf(uri: string): TargetKind {
  const parts = splitUri(uri);
  if (parts?.kind === 'account') return 'account';
  return parts?.kind === 'record' && parts.collection === postCollection ? 'post' : 'record';
}

/**
 * Returns the DID of the account that a label is about, or null if the uri contains no DID; admission then refuses the
 * label as malformed.
 */
export function subjectOf(uri: string): string | null {
  return splitUri(uri)?.did ?? null;
}
