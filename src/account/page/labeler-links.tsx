import type { Texts } from '../texts/texts.ts';
import { profileUrl, queryUrl } from './labeler-urls.ts';

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
