import type { Texts } from '../texts/texts.ts';
import { profileUrl, queryUrl } from './labeler-urls.ts';

/**
 * Shows links from an observation to the labeler: its profile in the official application, and its own response for the
 * subject. Each link states that it leaves this service, and what the labeler learns.
 */
export function LabelerLinks({
  labeler,
  uri,
  origin,
  t,
}: {
  readonly labeler: string;
  readonly uri: string;
  /** Origin of the labeler's endpoint, or undefined if no link to it is possible. */
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

/** Describes how appeals work in the official application. */
export function Appeals({ t }: { readonly t: Texts }) {
  return (
    <section aria-labelledby="appeals">
      <h2 id="appeals">{t.disagree}</h2>
      <p>{t.appeals}</p>
    </section>
  );
}
