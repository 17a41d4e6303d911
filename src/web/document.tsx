import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

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
  /** Style sheets of this origin beside the one of every page, as paths below the base. */
  readonly styles?: readonly string[];
  /** What every page of the server links to. */
  readonly navigation: readonly { readonly href: string; readonly text: string }[];
  /** A line above everything else: simulated or sample facts say so on every page. */
  readonly banner?: string;
  readonly children: ComponentChildren;
}

/**
 * A whole HTML page: text is escaped by the renderer, nothing is inline (the policy of the servers allows neither
 * inline styles nor inline scripts), and it reads in order without a style sheet.
 */
export function renderPage(parts: PageParts): string {
  return `<!doctype html>${renderToString(<Page {...parts} />)}`;
}

function Page({
  title,
  description,
  base,
  indexed,
  scripts = [],
  styles = [],
  navigation,
  banner,
  children,
}: PageParts) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {indexed ? null : <meta name="robots" content="noindex, nofollow" />}
        {description === undefined ? null : <meta name="description" content={description} />}
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${base}/assets/almanac.css`} />
        {styles.map((style) => (
          <link key={style} rel="stylesheet" href={`${base}${style}`} />
        ))}
        {scripts.map((script) => (
          <script key={script} src={`${base}${script}`} type="module" />
        ))}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        {banner === undefined ? null : (
          <p class="banner" role="note">
            {banner}
          </p>
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
      </body>
    </html>
  );
}
