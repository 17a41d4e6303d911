import type { ComponentChildren } from 'preact';
import { accountErrorTable } from '../../contract/errors.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { type HeaderList, type Reply, withBody } from '../../http/reply.ts';
import type { AssetFile } from '../../http/representation/asset-file.ts';
import { chooseCoding, encodeOnce } from '../../http/representation/negotiation.ts';
import { storeOrigin } from '../../store/origin.ts';
import { renderPage } from '../../web/document.tsx';
import { type Language, languages } from '../../web/language.ts';
import type { AccountStore } from '../query/account-store.ts';
import { parseParameters } from '../query/query.ts';
import { type AccountRequest, accountError, privateHeaders } from '../route.ts';
import type { NameProblem, PageErrorCode } from '../texts/en-entry.ts';
import { textsOf } from '../texts/texts.ts';
import { languageNames, languageOf, languageParameter, negotiateLanguage } from './choose-language.ts';
import { RefusalBody } from './entry.tsx';
import type { PageFrame } from './links.ts';

/** Content Security Policy: style sheets only from this origin, images only as data URLs, and no scripts or framing. */
const contentPolicy =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Headers of every response of the page routes. */
const pageHeaders: HeaderList = [
  ...privateHeaders,
  'Content-Security-Policy',
  contentPolicy,
  'X-Content-Type-Options',
  'nosniff',
  'Accept-Ranges',
  'none',
];

/** Content type of a page. */
const htmlType = 'text/html; charset=utf-8';

/** Origin that a page states, or null if it states none, because the store is live or its origin is not known. */
type ShownOrigin = Exclude<Origin, 'live'> | null;

/** Title, status and content of a page. */
interface PageContent {
  readonly status: number;
  /** Title of the page, without the note about the store's origin. */
  readonly title: string;
  readonly children: ComponentChildren;
  readonly more?: HeaderList;
  /** Origin of the data on the page; by default the origin that was read last. */
  readonly origin?: ShownOrigin;
}

/** Optional details of an error page. */
interface RefusalReason {
  /** Problem with the submitted name. Its text replaces the general text of the error code. */
  readonly name?: NameProblem;
  readonly retryAfterSeconds?: number;
}

/** Renders the pages of the account surface. */
export class PageRenderer {
  readonly #base: string;
  readonly #handles: boolean;
  #origin: ShownOrigin = null;
  #isOriginKnown = false;

  /** `base` is the base path; `handles` is true if the service resolves handles. */
  constructor(base: string, handles: boolean) {
    this.#base = base;
    this.#handles = handles;
  }

  /** Origin of the store that was read last. */
  get origin(): ShownOrigin {
    return this.#origin;
  }

  /** True once the origin has been read. Until then, no page may show content of the store. */
  get isOriginKnown(): boolean {
    return this.#isOriginKnown;
  }

  /**
   * Reads the origin from the store, which may have replaced a store with another origin since the last call. A page
   * with data from the store must state the returned origin: another request may read the new store meanwhile.
   */
  async learnOrigin(store: AccountStore): Promise<ShownOrigin> {
    const read = await storeOrigin(store);
    const origin = read === 'live' ? null : read;
    this.#origin = origin;
    this.#isOriginKnown = true;
    return origin;
  }

  /** Returns the language of a page and the properties that its links depend on. */
  frameOf({ search, acceptLanguage }: AccountRequest): PageFrame {
    const selected = search === '' ? null : languageOf(parseParameters(search)?.get(languageParameter));
    const t = textsOf(selected ?? negotiateLanguage(acceptLanguage));
    return { base: this.#base, handles: this.#handles, selected, t };
  }

  /** Renders a page with the given content. */
  page(
    { search, acceptEncoding }: AccountRequest,
    { t }: PageFrame,
    { status, title, children, more = [], origin = this.#origin }: PageContent,
  ): Reply {
    const base = this.#base;
    const html = renderPage({
      title: `${origin === null ? '' : `${t.bannerTitle[origin]} `}${title}`,
      base,
      indexed: false,
      styles: ['/assets/account.css'],
      navigation: [{ href: `${base}/`, text: t.lookUp }],
      ...(origin === null ? {} : { banner: t.banner[origin] }),
      language: t.language,
      frame: t,
      languageSwitch: (
        <>
          <LanguageSwitch label={t.languageMenu} current={t.language} search={search} />
          {t.translationNote === null ? null : <p class="translation">{t.translationNote}</p>}
        </>
      ),
      children,
    });
    const plain = Buffer.from(html);
    const { bytes, coding } = encodeOnce(plain, chooseCoding(acceptEncoding));
    const encoded = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const varying = ['Content-Language', t.language, 'Vary', 'Accept-Language, Accept-Encoding'];
    const reply = withBody(status, htmlType, bytes, [...encoded, ...varying, ...pageHeaders, ...more]);
    return { ...reply, plainLength: plain.length };
  }

  /** Renders the error page for a code. */
  refusal(request: AccountRequest, code: PageErrorCode, { name, retryAfterSeconds }: RefusalReason = {}): Reply {
    const frame = this.frameOf(request);
    const { t } = frame;
    const typed = parseParameters(request.search) ?? new Map<string, never>();
    const message = name === undefined ? t.refusal[code] : t.name[name];
    const waitSeconds = retryAfterSeconds ?? null;
    return this.page(request, frame, {
      status: accountErrorTable[code].status,
      title: `${t.failedTitle(code)} · Almanac`,
      children: <RefusalBody {...{ code, message, frame, typed, waitSeconds }} />,
      more: waitSeconds === null ? [] : ['Retry-After', String(Math.ceil(waitSeconds))],
    });
  }

  /** Returns a style sheet of the pages, or an error response if its file is missing. */
  styleSheet({ acceptEncoding }: AccountRequest, file: AssetFile): Reply {
    const found = file.bytes(chooseCoding(acceptEncoding));
    if (!found) return accountError('asset_unavailable');
    const encoded = found.coding === 'identity' ? [] : ['Content-Encoding', found.coding];
    const headers = [...encoded, 'Vary', 'Accept-Encoding', ...pageHeaders];
    return withBody(200, 'text/css; charset=utf-8', found.bytes, headers);
  }

  /** Returns a redirect to another page. */
  redirect(location: string): Reply {
    return withBody(303, htmlType, Buffer.alloc(0), ['Location', location, ...pageHeaders]);
  }
}

/** Maximum length of a query that the links keep, in characters. No valid query of a page is longer. */
const maxSearchLength = 2_048;

/**
 * Shows the name of the current language, and links to the same page in every other language. Each link keeps the query
 * (`search`, without its question mark) unless the query is too long. The links work without scripts.
 */
function LanguageSwitch({ label, current, search }: { label: string; current: Language; search: string }) {
  const kept = search.length > maxSearchLength ? '' : withoutLanguage(search);
  return (
    <nav class="languages" aria-label={label}>
      {languages.map((language) =>
        language === current ? (
          <strong key={language}>{languageNames[language]}</strong>
        ) : (
          <a key={language} href={`?${kept}${languageParameter}=${language}`} lang={language}>
            {languageNames[language]}
          </a>
        ),
      )}
    </nav>
  );
}

/** Removes the language parameter from a query. The result is empty or ends with an ampersand. */
function withoutLanguage(search: string): string {
  return search
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== languageParameter)
    .map((pair) => `${pair}&`)
    .join('');
}
