import { isDid } from '../../contract/identifiers.ts';

/** URLs of labelers outside this service. Every part is untrusted text of a labeler, so it is validated or encoded. */

/** Base URL of profiles in the official application. */
const profiles = 'https://bsky.app/profile/';

/**
 * Maximum length of a subject in a link, in characters. A longer URI may be truncated in the data of a page, so the
 * link would query a different subject.
 */
const maxUriLength = 1_000;

/** Returns the URL of a labeler's profile in the official application, or null if its DID is invalid. */
export function profileUrl(did: string): string | null {
  return isDid(did) ? profiles + did.replaceAll('%', '%25') : null;
}

/**
 * Returns the URL of a labeler's public query for its labels on one subject. `origin` is the result of
 * `publicOrigin`, or undefined. Returns null without an origin, or if the URI may be truncated or is not well-formed
 * Unicode.
 */
export function queryUrl(origin: string | undefined, uri: string): string | null {
  if (origin === undefined || uri.length > maxUriLength || !uri.isWellFormed()) return null;
  return `${origin}/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(uri)}`;
}
