import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { type Micros, microsFromMillis, parseInstant } from '../../contract/timestamp.ts';
import type { Reply } from '../../http/reply.ts';
import type { AssetFile } from '../../http/representation/asset-file.ts';
import { isHandle } from '../../network/identity/did-document.ts';
import type { HandleResolution } from '../../network/identity/identity.ts';
import type { SampleAccount } from '../../web/sample-accounts.tsx';
import {
  type AskedQuery,
  type Parameters,
  parseAccountQuery,
  parseParameters,
  type QueryRefusal,
} from '../query/query.ts';
import { type AccountRequest, type AccountRoute, accountError, missingPage } from '../route.ts';
import { type AccountServices, refusalOf } from '../services.ts';
import { AccountBody, downloadsOf } from './account.tsx';
import { languageParameter } from './choose-language.ts';
import { HomeBody } from './entry.tsx';
import { beforeParameter } from './links.ts';
import { FactsUrl } from './observation.tsx';
import { PageRenderer } from './render.tsx';

/** Resolves a handle to its DID. */
export type FindHandle = (handle: string, signal: AbortSignal) => Promise<HandleResolution>;

/** Options for the pages. */
interface PagesOptions {
  /** Base path, which is the prefix of all links. */
  readonly base: string;
  /** Style sheets by file name below `/assets/`. */
  readonly styles: ReadonlyMap<string, AssetFile>;
  /** Resolves handles to DIDs; null if the service does not resolve handles. */
  readonly findHandle: FindHandle | null;
  /**
   * Address of the facts API without a trailing slash, for links to the pages of labelers. Without it, the pages have
   * no such links.
   */
  readonly factsUrl?: string | null;
  /** Accounts that the home page links to if the store is not live. */
  readonly samples?: readonly SampleAccount[];
  /** Called with errors whose details are not sent to clients. */
  readonly alarm: (route: string, error: unknown) => void;
}

/** Style sheets of the pages, below `/assets/`. */
export const pageStyles = ['almanac.css', 'account.css'] as const;

/** Creates the routes of the home page, the page of an account, the page for missing paths, and the style sheets. */
export function accountPages(options: PagesOptions): (services: AccountServices) => ReadonlyMap<string, AccountRoute> {
  return (services) => {
    const { base, styles, findHandle, samples = [] } = options;
    const pages = new PageRenderer(base, findHandle !== null);
    const home = async (request: AccountRequest): Promise<Reply> => {
      await learnOrigin(request, services, pages);
      const frame = pages.frameOf(request);
      return pages.page(request, frame, {
        status: 200,
        title: frame.t.homeTitle,
        // An account of the live network is never suggested.
        children: <HomeBody frame={frame} samples={pages.origin === null ? [] : samples} />,
      });
    };
    const missing = (request: AccountRequest): Reply =>
      pages.refusal(request, 'not_found', findHandle === null ? { name: 'did_only' } : {});
    const sheets = [...styles].map(([name, file]): [string, AccountRoute] => [
      `/assets/${name}`,
      (request) => pages.styleSheet(request, file),
    ]);
    return new Map<string, AccountRoute>([
      ['/', home],
      ['/account', accountRoute(options, services, pages)],
      [missingPage, missing],
      ...sheets,
    ]);
  };
}

/** Reads the origin of the store. Ignores an error: a page without data from the store need not state the origin. */
async function learnOrigin(request: AccountRequest, { read }: AccountServices, pages: PageRenderer): Promise<void> {
  await read(request, null, (store) => pages.learnOrigin(store)).catch(() => undefined);
}

/**
 * Returns a function that responds to a request whose `did` is not a canonical DID. It redirects from a handle or
 * pasted text to the page of the DID, or returns an error page.
 */
function nameRoute({ base, findHandle }: PagesOptions, services: AccountServices, pages: PageRenderer) {
  async function byName(request: AccountRequest): Promise<Reply> {
    const parameters = parseParameters(request.search);
    const text = parameters?.get('did') ?? '';
    const did = didIn(text);
    if (parameters !== null && did !== null) return refusedRest(request, parameters) ?? wayTo(did, parameters);
    const handle = handleIn(text);
    if (parameters === null || handle === null)
      return pages.refusal(request, 'invalid_account', { name: findHandle ? 'neither' : 'did_only' });
    if (findHandle === null) return pages.refusal(request, 'invalid_account', { name: 'did_only' });
    const refused = refusedRest(request, parameters);
    if (refused) return refused;
    // Count the handle as a looked-up account, because resolving it sends a request to another server.
    const wait = services.waitFor(request, handle);
    if (wait !== null) return pages.refusal(request, 'client_budget', { retryAfterSeconds: wait });
    const found = await services.lookUp(request, () => findHandle(handle, request.gone));
    if (found.kind !== 'resolved') {
      const name = found.kind === 'failed' && found.redirects ? 'redirects' : found.kind;
      return pages.refusal(request, 'invalid_account', { name });
    }
    return wayTo(found.did, parameters);
  }

  /**
   * Returns the error page for a query that would be refused after the redirect, so that the user's input is not lost
   * in the redirect. Returns null for a valid query.
   */
  function refusedRest(request: AccountRequest, parameters: Parameters): Reply | null {
    const rest = parsePageQuery(searchWith(anyDid, parameters));
    return rest.kind === 'refused' ? pages.refusal(request, rest.code) : null;
  }

  function wayTo(did: string, parameters: Parameters): Reply {
    return pages.redirect(`${base}/account?${searchWith(did, parameters)}`);
  }

  return byName;
}

/**
 * Creates the route `GET /account`. It returns the page of an account or an error page, or redirects from a handle or
 * pasted text to the page of the DID.
 */
function accountRoute(options: PagesOptions, services: AccountServices, pages: PageRenderer): AccountRoute {
  const { base, factsUrl = null, alarm } = options;
  const byName = nameRoute(options, services, pages);
  async function answer(request: AccountRequest): Promise<Reply> {
    const asked = parsePageQuery(request.search);
    if (asked.kind === 'refused') {
      return asked.code === 'invalid_account' ? byName(request) : pages.refusal(request, asked.code);
    }
    const { query, before } = asked;
    const frame = pages.frameOf(request);
    const { language } = frame.t;
    const wait = services.waitFor(request, query.account);
    if (wait !== null) return pages.refusal(request, 'client_budget', { retryAfterSeconds: wait });
    const { origin, view } = await services.read(request, query.account, async (store) => ({
      origin: await pages.learnOrigin(store),
      view: await store.view({ query, before, now: microsFromMillis(request.now), language }),
    }));
    if (view === 'out_of_window') return pages.refusal(request, 'out_of_window');
    const downloads = downloadsOf(view, base, services, request.now);
    const body = (
      <FactsUrl.Provider value={factsUrl}>
        <AccountBody view={view} frame={frame} isLive={origin === null} downloads={downloads} />
      </FactsUrl.Provider>
    );
    return pages.page(request, frame, {
      status: 200,
      title: `${frame.t.title(query.account)} · Almanac`,
      children: body,
      origin,
    });
  }

  return async (request) => {
    // Read the origin before answering, because an error page also shows the origin and may be the first requested
    // page.
    if (!pages.isOriginKnown) await learnOrigin(request, services, pages);
    try {
      return await answer(request);
    } catch (error) {
      if (request.gone.aborted) return accountError('store_busy');
      const refused = refusalOf(error, (unexpected) => alarm('/account', unexpected));
      return pages.refusal(request, refused.code, refused);
    }
  };
}

/** Placeholder for a DID that is not resolved yet. */
const anyDid = 'did:web:any.example';

/**
 * Formats the parameters of a query with another `did`. A parameter that was repeated or not decodable remains
 * invalid.
 */
function searchWith(did: string, parameters: Parameters): string {
  const kept = [...parameters].flatMap(([name, value]) => {
    if (name === 'did') return [];
    return value === null
      ? [
          [name, '-'],
          [name, '-'],
        ]
      : [[name, value]];
  });
  return new URLSearchParams([['did', did], ...kept]).toString();
}

/** Query of a page. `before` is the position at which the list continues, or null for the newest rows. */
interface PageQuery {
  readonly kind: 'page';
  readonly query: AskedQuery;
  readonly before: Micros | null;
}

/** Parses the query string of an account's page. Returns the error code if the query is invalid. */
function parsePageQuery(
  search: string,
): PageQuery | { readonly kind: 'refused'; readonly code: QueryRefusal | 'invalid_cursor' } {
  // Accept an unknown language instead of refusing the page, because the language does not affect the data.
  const parsed = parseAccountQuery(trimmed(parseParameters(search)), [beforeParameter, languageParameter]);
  if (parsed.kind === 'refused') return parsed;
  const { query, more } = parsed;
  if (!more.has(beforeParameter)) return { kind: 'page', query, before: null };
  const before = parseInstant(more.get(beforeParameter) ?? '');
  // Only a list of a single target kind can continue at a position. A page with all three lists always shows the newest
  // rows.
  if (before === null || query.filters.target_kind === undefined) return { kind: 'refused', code: 'invalid_cursor' };
  return { kind: 'page', query, before };
}

/** Parameters that are not trimmed here: label values are compared exactly, and the route trims the account. */
const asTyped: readonly string[] = ['did', 'value'];

/**
 * Returns the parameters without the surrounding white space that typing or pasting into a field may add. Omits
 * parameters that contain only white space.
 */
function trimmed(parameters: Parameters | null): Parameters | null {
  if (parameters === null) return null;
  const texts = [...parameters].map(([name, text]): [string, string | null] => [
    name,
    asTyped.includes(name) ? text : (text?.trim() ?? null),
  ]);
  return new Map(texts.filter(([, text]) => text !== ''));
}

/** Maximum length of parsed text, in characters: enough for the AT-URI of a record and some invisible characters. */
const maxTextLength = 2048;
/**
 * Matches invisible characters that are often pasted with a name, such as direction marks, zero-width characters and
 * soft hyphens.
 */
const invisible = /\p{Cf}/gu;
/** Matches forms in which an account is often pasted: `@name`, `at://name`, `at://name/collection/rkey`. */
const copied = /^(?:@|at:\/\/([^/?#]*).*$)/is;

/** Matches the beginning of the address of a profile or a post in the official application. */
const profileAddress = /^https?:\/\/bsky\.app\/profile\//i;

/** Extracts the name of an account from typed or pasted text. Returns an empty string if the text is too long. */
function nameIn(text: string): string {
  if (text.length > maxTextLength) return '';
  return text.replace(invisible, '').trim().replace(profileAddress, 'at://').replace(copied, '$1').toLowerCase();
}

/** Extracts a DID from typed or pasted text, in canonical form. Returns null if the text contains anything else. */
export function didIn(text: string): string | null {
  const did = nameIn(text);
  return isDid(did) ? canonicalDid(did) : null;
}

/**
 * Extracts a handle from typed or pasted text: the handle itself, `@alice.example`, an AT-URI or the address of a
 * profile. Returns null for any other text.
 */
export function handleIn(text: string): string | null {
  const handle = nameIn(text);
  return isHandle(handle) ? handle : null;
}
