import { type AccountErrorCode, accountErrorTable } from '../contract/account-errors.ts';
import { type Micros, parseInstant } from '../contract/timestamp.ts';
import type { HeaderList } from '../http/headers.ts';
import { type Reply, withBody } from '../http/reply.ts';
import type { Interval } from '../store/time.ts';
import { renderPage } from '../web/document.tsx';
import type { AccountStore } from './account-store.ts';
import { AccountBody } from './page-account.tsx';
import { DefinitionCache } from './page-definitions.ts';
import type { DownloadLink } from './page-download.tsx';
import { HomeBody, RefusalBody } from './page-home.tsx';
import { beforeParameter } from './page-links.ts';
import { labelersOf } from './page-network.ts';
import { downloadParts } from './page-parts.ts';
import { type AccountView, readView } from './page-view.ts';
import { type AskedQuery, parseAccountQuery } from './query.ts';

/** What the pages need of the surface that they are a part of. */
export interface PagesOptions {
  readonly store: AccountStore;
  /** Prefix of links: the base path, or the public URL. */
  readonly base: string;
  /** Headers of every response of the surface. */
  readonly common: HeaderList;
  /** Most rows of one download. */
  readonly maxExportRows: number;
  /** Whether the form takes handles. */
  readonly handles: boolean;
  /** A line above every page: a simulated network says so. */
  readonly banner?: string;
  /** The cursor of a download of a query's rows in a part of its interval. */
  readonly snapshot: (view: AccountView, part: Interval & { readonly rows: number }) => string;
  /** Milliseconds that only rise. */
  readonly monotonic: () => number;
}

/** The HTML pages of the surface. */
export interface Pages {
  /** The first page, with the form. */
  home(): Reply;
  /**
   * The page of an account, or the page of a refusal. Rejects with a `StoreError` when the store does: the surface
   * answers that with `refusal`.
   */
  account(query: AskedQuery, before: Micros | null, now: Micros): Promise<Reply>;
  /** The page of an error; `message` in place of the table's, where a person can be told more. */
  refusal(code: AccountErrorCode, more?: { readonly message?: string; readonly headers?: HeaderList }): Reply;
}

/** Style sheets and everything else come from this origin; nothing is inline, no script runs, nobody frames a page. */
const contentPolicy =
  "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const privacy: HeaderList = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  contentPolicy,
  'Referrer-Policy',
  'no-referrer',
  'X-Robots-Tag',
  'noindex, nofollow',
];

/** Makes the pages. */
export function createPages(options: PagesOptions): Pages {
  const { store, base, common, maxExportRows, handles, banner, snapshot, monotonic } = options;
  const sources = { store, definitions: new DefinitionCache(store, monotonic), labelers: labelersOf(store, monotonic) };
  const navigation = [{ href: `${base}/`, text: 'Look up an account' }];

  function page(status: number, title: string, children: preact.ComponentChildren, more: HeaderList = []): Reply {
    const parts = { title, base, indexed: false, styles: ['/assets/account.css'], navigation, children };
    const html = renderPage(banner === undefined ? parts : { ...parts, banner });
    return withBody(status, 'text/html; charset=utf-8', Buffer.from(html), [...privacy, ...common, ...more]);
  }

  function downloadsOf(view: AccountView): DownloadLink[] | null {
    const parts = downloadParts(view.tally, maxExportRows);
    if (parts === null) return null;
    return parts.map((part) => ({
      ...part,
      href: `${base}/download?cursor=${encodeURIComponent(snapshot(view, part))}`,
    }));
  }

  const pages: Pages = {
    home: () => page(200, 'Almanac: labels observed on an account', <HomeBody base={base} handles={handles} />),
    async account(query, before, now) {
      const view = await readView(sources, query, before, now);
      if (view === 'out_of_window') return pages.refusal('out_of_window');
      const body = <AccountBody view={view} base={base} downloads={downloadsOf(view)} />;
      return page(200, `Labels observed on ${query.account} · Almanac`, body);
    },
    refusal(code, { message, headers } = {}) {
      const { status, message: usual } = accountErrorTable[code];
      const body = <RefusalBody code={code} message={message ?? usual} base={base} handles={handles} />;
      return page(status, `Not answered: ${code} · Almanac`, body, headers);
    },
  };
  return pages;
}

/** What a query string asks the page of: the query and where its list goes on, or why it is refused. */
export function parsePageQuery(
  search: string,
):
  | { readonly kind: 'page'; readonly query: AskedQuery; readonly before: Micros | null }
  | { readonly kind: 'refused'; readonly code: AccountErrorCode } {
  const parsed = parseAccountQuery(search, [beforeParameter]);
  if (parsed.kind === 'refused') return parsed;
  const { query, more } = parsed;
  if (!more.has(beforeParameter)) return { kind: 'page', query, before: null };
  const before = parseInstant(more.get(beforeParameter) ?? '');
  // Only a list of one kind goes on: the others begin with their newest.
  if (before === null || query.filters.target_kind === undefined) return { kind: 'refused', code: 'invalid_cursor' };
  return { kind: 'page', query, before };
}
