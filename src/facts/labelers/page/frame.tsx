import type { ComponentChildren } from 'preact';
import type { LabelerHandle } from '../../../contract/labelers.ts';
import type { Origin } from '../../../contract/vocabulary.ts';
import { Foreign } from '../../../web/foreign.tsx';
import type { PageParts } from '../../../web/page-body.tsx';
import { Quote } from '../../page/pieces.tsx';
import { markedParts } from '../../shown-facts.ts';

/** Components shared by the pages about labelers. */

/** Returns the parts of a page about labelers. `base` is the relative URL of the service. */
export function labelerPageParts(
  base: string,
  { title, description, origin = 'live' }: { title: string; description: string; origin?: Origin | undefined },
  children: ComponentChildren,
): PageParts {
  return {
    ...markedParts(origin === 'live' ? [] : [origin], title),
    description,
    base,
    styles: ['/assets/observatory.css', '/assets/labelers.css'],
    navigation: [
      { href: `${base}/labelers`, text: 'Labelers' },
      { href: `${base}/docs`, text: 'API' },
      { href: `${base}/method/labels`, text: 'Method' },
      { href: `${base}/policy`, text: 'Policy' },
      { href: `${base}/for-labelers`, text: 'For labelers' },
    ],
    children,
  };
}

/** Shows a handle. */
export function Handle({ handle, at }: { handle: LabelerHandle; at: string }) {
  return (
    <span data-said={`${at}/name`}>
      <Foreign text={handle.name} />
    </span>
  );
}

/** Shows the caveats of a document. */
export function CaveatList({ caveats, at }: { caveats: readonly string[]; at: string }) {
  return (
    <section aria-labelledby="caveats">
      <h2 id="caveats">Caveats</h2>
      <ul>
        {caveats.map((caveat, index) => (
          <li key={index}>
            <Quote text={caveat} at={`${at}/caveats/${index}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the page that replaces a refused page; it shows the API's error code. */
export function refusedPage(
  base: string,
  { code, message, origin }: { code: string; message: string; origin?: Origin | undefined },
): PageParts {
  const title = code === 'unknown_labeler' ? 'Unknown labeler' : 'Labelers: refused';
  const parts = labelerPageParts(
    base,
    { title, description: 'This page is not available now.', origin },
    <>
      <h1>{title}</h1>
      <div class="panel stop refusal">
        <p class="verdict">{message}</p>
        <p class="soft">
          Code <code>{code}</code>. No number is shown in its place.
        </p>
      </div>
      <p>
        <a href={`${base}/labelers`}>All labelers</a>
        {code === 'unknown_labeler' ? (
          <>
            {' '}
            · <a href={`${base}/for-labelers`}>How labelers are found</a>
          </>
        ) : null}
      </p>
    </>,
  );
  return { ...parts, indexed: false };
}
