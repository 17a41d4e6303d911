import type { ComponentChildren } from 'preact';

/** Parts of a page of either server. */
export interface PageParts {
  /** Title of the browser tab and of the history entry; plain text. */
  readonly title: string;
  /** One sentence about the page, for search results; absent on pages that must not be indexed. */
  readonly description?: string;
  /** Prefix of this server's links: the base path, without a trailing slash. */
  readonly base: string;
  /** True if search engines may index the page; an account's page never allows it. */
  readonly indexed: boolean;
  /** Scripts to load from this origin; a page must work without them. */
  readonly scripts?: readonly string[];
  /** Additional style sheets of this page. */
  readonly styles?: readonly string[];
  /** Links on every page of the server. */
  readonly navigation: readonly { readonly href: string; readonly text: string }[];
  /** A line above everything else: marks simulated or sample facts on every page. */
  readonly banner?: string;
  readonly children: ComponentChildren;
}

/** Renders the body of a page; the browser script uses it too, so that an updated page looks the same. */
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
