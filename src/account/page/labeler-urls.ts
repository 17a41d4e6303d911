import { isDid } from '../../contract/identifiers.ts';

/** URLs of labelers outside this service. Every part is untrusted text of a labeler, so it is validated or encoded. */

/** Base URL of profiles in the official application. */
const profiles = 'https://bsky.app/profile/';

/**
 * Maximum length of a subject in a link, in characters. A longer URI may be truncated in the data of a page, and the
 * link would then query another subject.
 */
const maxUriLength = 1_000;

/** Returns the URL of a labeler's profile in the official application, or null if its DID is invalid. */
export function profileUrl(did: string): string | null {
  return isDid(did) ? profiles + did.replaceAll('%', '%25') : null;
}

/**
 * Returns the URL of a labeler's public query for its labels on one subject, or null if there must be no link. `origin`
 * is an origin that `publicOrigin` returned, or undefined.
 */
export function queryUrl(origin: string | undefined, uri: string): string | null {
  if (origin === undefined || uri.length > maxUriLength || !uri.isWellFormed()) return null;
  return `${origin}/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(uri)}`;
}
