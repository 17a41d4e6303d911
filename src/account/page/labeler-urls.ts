import { isDid } from '../../contract/identifiers.ts';

/** URLs of labelers outside this service. Each part comes from a labeler, so each part is validated or encoded. */

/** Address of the profiles in the official application. */
const profiles = 'https://bsky.app/profile/';

/**
 * Maximum length of the URI of a linked query, in characters. A longer URI may be truncated in the data of a page, and
 * the link would then ask about another subject.
 */
const maxUriLength = 1_000;

/** Returns the URL of a labeler's profile in the official application, or null if the DID is invalid. */
export function profileUrl(did: string): string | null {
  return isDid(did) ? profiles + did.replaceAll('%', '%25') : null;
}

/**
 * Returns the URL of a labeler's public query for its labels on one subject. `origin` is an origin that
 * `publicOrigin` admitted, or undefined. Returns null if no link is possible.
 */
export function queryUrl(origin: string | undefined, uri: string): string | null {
  if (origin === undefined || uri.length > maxUriLength || !uri.isWellFormed()) return null;
  return `${origin}/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(uri)}`;
}
