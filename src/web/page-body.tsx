import type { ComponentChildren } from 'preact';

/** Content of an HTML page of the facts server or the account server. */
export interface PageParts {
  /** Title of the browser tab and of the history entry; plain text. */
  readonly title: string;
  /** One sentence about the page, for search results; absent on pages that must not be indexed. */
  readonly description?: string;
  /** Base path of the server, without a trailing slash, which is the prefix of all links. */
  readonly base: string;
  /** True if search engines may index the page; an account's page never allows it. */
  readonly indexed: boolean;
  /** Scripts to load from this origin; a page must work without them. */
  readonly scripts?: readonly string[];
  /** Additional style sheets of this page. */
  readonly styles?: readonly string[];
  /** Links in the navigation of every page. */
  readonly navigation: readonly { readonly href: string; readonly text: string }[];
  /** Line at the top of the page that marks simulated or sample data. */
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
