import type { ComponentChildren } from 'preact';

/** What a page of either server is made of. */
export interface PageParts {
  /** Title of the tab and the history; plain text. */
  readonly title: string;
  /** One sentence about the page, for search results; absent on pages that must not be indexed. */
  readonly description?: string;
  /** Prefix of this server's links: the base path, without a trailing slash. */
  readonly base: string;
  /** Whether the page may be indexed; an account's page never may. */
  readonly indexed: boolean;
  /** Scripts to load from this origin; a page must work without them. */
  readonly scripts?: readonly string[];
  /** Style sheets of this page alone, beside the one of all pages. */
  readonly styles?: readonly string[];
  /** What every page of the server links to. */
  readonly navigation: readonly { readonly href: string; readonly text: string }[];
  /** A line above everything else: simulated or sample facts say so on every page. */
  readonly banner?: string;
  readonly children: ComponentChildren;
}

/** All that a page's body holds: also what a script draws anew, so that a live page is the same page. */
export function PageBody({ base, navigation, banner, children }: PageParts) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      {banner === undefined ? null : (
        <aside class="banner" aria-label="Where these facts come from">
          {banner}
        </aside>
      )}
      <header class="site">
        <nav aria-label="Site">
          <a class="name" href={`${base}/`}>
            Almanac
          </a>
          {navigation.map(({ href, text }) => (
            <a key={href} href={href}>
              {text}
            </a>
          ))}
        </nav>
      </header>
      <main id="main">{children}</main>
    </>
  );
}
