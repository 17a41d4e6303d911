import type { ComponentChildren } from 'preact';
import type { Language } from './language.ts';

/** Texts of the page frame: navigation, banner and skip link. */
export interface FrameTexts {
  readonly skip: string;
  /** Accessible name of the navigation. */
  readonly site: string;
  /** Accessible name of the banner. */
  readonly bannerLabel: string;
}

const english: FrameTexts = {
  skip: 'Skip to the content',
  site: 'Site',
  bannerLabel: 'Where these facts come from',
};

/** Content of an HTML page of the facts server or the account server. */
export interface PageParts {
  /** Plain text for the title of the browser tab and of the history entry. */
  readonly title: string;
  /** One sentence about the page for search results; absent on pages that must not be indexed. */
  readonly description?: string;
  /** Base path of the server without a trailing slash; all links begin with it. */
  readonly base: string;
  /** True if search engines may index the page, which is never the case for an account's page. */
  readonly indexed: boolean;
  /** Scripts to load from this origin. The page must work without them. */
  readonly scripts?: readonly string[];
  /** Additional style sheets of this page. */
  readonly styles?: readonly string[];
  /** Preview of the page for messengers and social networks (Open Graph); its addresses are absolute. */
  readonly card?: {
    readonly url: string;
    readonly image: string;
    readonly imageText: string;
    readonly width: number;
    readonly height: number;
  };
  /** Links in the navigation of every page. */
  readonly navigation: readonly { readonly href: string; readonly text: string }[];
  /** Line at the top of the page that marks simulated or sample data. */
  readonly banner?: string;
  /** Language of the page; English by default. */
  readonly language?: Language;
  /** Texts of the frame in the language of the page; English by default. */
  readonly frame?: FrameTexts;
  /** Links to the page in other languages. */
  readonly languageSwitch?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Renders the body of a page. The browser script uses this function too, so that an updated page looks the same. */
export function PageBody({ base, navigation, banner, frame = english, languageSwitch, children }: PageParts) {
  return (
    <>
      <a class="skip" href="#main">
        {frame.skip}
      </a>
      {banner === undefined ? null : (
        <aside class="banner" aria-label={frame.bannerLabel}>
          {banner}
        </aside>
      )}
      <header class="site">
        <nav aria-label={frame.site}>
          <a class="name" href={`${base}/`}>
            Almanac
          </a>
          {navigation.map(({ href, text }) => (
            <a key={href} href={href}>
              {text}
            </a>
          ))}
        </nav>
        {languageSwitch}
      </header>
      <main id="main">{children}</main>
    </>
  );
}
