import { isDid } from '../../contract/identifiers.ts';
import type { Texts } from '../texts/texts.ts';

/**
 * Renders links from an observation to its labeler: the profile in the official application, and the labeler's own
 * response for the subject. Each link states that its target is outside this service. The link to the response also
 * states what the labeler learns from the request. Renders nothing if neither link is possible.
 */
export function LabelerLinks({
  labeler,
  uri,
  origin,
  t,
}: {
  readonly labeler: string;
  readonly uri: string;
  /** Origin of the labeler's endpoint, or undefined if the page may not link to it. */
  readonly origin: string | undefined;
  readonly t: Texts;
}) {
  const profile = profileUrl(labeler);
  const query = queryUrl(origin, uri);
  if (profile === null && query === null) return null;
  return (
    <ul class="ask">
      {profile === null ? null : (
        <li>
          <a href={profile} rel="noreferrer">
            {t.profileLink}
          </a>
        </li>
      )}
      {query === null ? null : (
        <li>
          <a href={query} rel="noreferrer">
            {t.queryLink}
          </a>
        </li>
      )}
    </ul>
  );
}

/**
 * Renders the explanation of how to appeal in the official application. For a simulated network, adds that its
 * accounts do not exist there.
 */
export function Appeals({ t, isLive }: { readonly t: Texts; readonly isLive: boolean }) {
  return (
    <section aria-labelledby="appeals">
      <h2 id="appeals">{t.disagree}</h2>
      {isLive ? null : <p>{t.appealsSimulated}</p>}
      <p>{t.appeals}</p>
    </section>
  );
}

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
