import type { Texts } from '../texts/texts.ts';
import { profileUrl, queryUrl } from './labeler-urls.ts';

/**
 * Renders links from an observation to its labeler: the profile in the official application, and the labeler's own
 * response for the subject. Each link states that it leaves this service, and what the labeler learns.
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

/** Renders the explanation of how to appeal in the official application. */
export function Appeals({ t }: { readonly t: Texts }) {
  return (
    <section aria-labelledby="appeals">
      <h2 id="appeals">{t.disagree}</h2>
      <p>{t.appeals}</p>
    </section>
  );
}
