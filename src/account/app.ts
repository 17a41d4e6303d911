import { once } from 'node:events';
import { accountPaths } from '../contract/identifiers.ts';
import { microsFromMillis } from '../contract/timestamp.ts';
import { below, pathOf, type ReadRequest } from '../http/read-request.ts';
import { json, jsonType, preflight, type Reply, withBody } from '../http/reply.ts';
import type { AssetFile } from '../http/representation/asset-file.ts';
import { exportRoutes } from './export/routes.ts';
import { searchOf, windowDays } from './query/query.ts';
import type { ReadingPool } from './reading/reading-pool.ts';
import {
  type AccountReply,
  type AccountRequest,
  type AccountRoute,
  accountCommonHeaders,
  accountError,
  missingPage,
} from './route.ts';
import { type AccountServices, createServices, refusalOf, type ServiceOptions } from './services.ts';
import type { ViewQuery } from './view/view.ts';

/** Options for the account application. */
interface AccountAppOptions extends ServiceOptions {
  /** Prefix of every path: empty, or `/name` without a trailing slash. */
  readonly basePath: string;
  /** OpenAPI document of the account surface. */
  readonly openapi: AssetFile;
  /** Creates the routes of the HTML pages, by path. */
  readonly pages: (services: AccountServices) => ReadonlyMap<string, AccountRoute>;
  /** Called with errors whose details are not sent to clients. The arguments never contain an account. */
  readonly alarm: (route: string, error: unknown) => void;
  /** Called after each response; `route` is the path of a route, or `other` for a path without a route. */
  readonly answered?: (route: string, status: number) => void;
}

const robots = Buffer.from('User-agent: *\nDisallow: /\n');

/** The account application: responds to requests, without the HTTP server. */
export interface AccountApp {
  /**
   * Returns the response to a request at `now`, in milliseconds since 1970. `gone` is aborted when the client
   * disconnects.
   */
  answer(request: ReadRequest, now: number, gone: AbortSignal): Promise<AccountReply>;
  /**
   * Opens the store's files and renders some pages, so that the first request is not delayed. Resolves when this is
   * done or `enough` is aborted. Never rejects: if the store does not exist yet, a later turn opens it.
   */
  warm(now: number, enough: AbortSignal): Promise<void>;
}

/** Creates the account application, which looks up the route of a request in a table of exact paths. */
export function createAccountApp(options: AccountAppOptions): AccountApp {
  const { reading, basePath, openapi, alarm, answered } = options;
  const common = accountCommonHeaders;
  const services = createServices(options);
  const health = json(200, { status: 'ok', service: 'almanac-account' }, common);
  const excluded = withBody(200, 'text/plain; charset=utf-8', robots, common);
  const notFound = accountError('not_found');
  const notAllowed = accountError('method_not_allowed');
  const options204 = preflight(common);

  const routes = new Map<string, AccountRoute>([
    ...options.pages(services),
    ...exportRoutes(services),
    [accountPaths.health, () => health],
    [accountPaths.openapi, () => documentReply(openapi)],
    ['/robots.txt', () => excluded],
  ]);

  async function replyTo(
    asked: ReadRequest,
    now: number,
    gone: AbortSignal,
  ): Promise<{ route: string; reply: AccountReply }> {
    const { method, target } = asked;
    if (method === 'OPTIONS') return { route: 'other', reply: options204 };
    if (method !== 'GET' && method !== 'HEAD') return { route: 'other', reply: notAllowed };
    const path = below(basePath, pathOf(target));
    const route = path === null ? undefined : routes.get(path);
    const routed = routedRequest(asked, now, gone);
    if (path === null || !route) {
      const page = path !== null && acceptsHtml(asked.accept) ? routes.get(missingPage) : undefined;
      return { route: 'other', reply: (await page?.(mistyped(routed, path ?? ''))) ?? notFound };
    }
    return { route: path, reply: await safely(route, routed, (error) => alarm(path, error)) };
  }

  return {
    async answer(request, now, gone) {
      const { route, reply } = await replyTo(request, now, gone);
      // A HEAD request costs as much as a GET request, because the whole response is built for its headers.
      if ('body' in reply && (request.method === 'GET' || request.method === 'HEAD'))
        services.sent({ client: request.client ?? 'unknown' }, costBytes(reply));
      answered?.(route, reply.status);
      return reply;
    },
    warm: (now, enough) =>
      warmUp({
        reading,
        now,
        enough,
        async draw(account) {
          const target = `${basePath}${accountPaths.account}?did=${account}`;
          return (await replyTo(pageRequest(target), now, enough)).reply.status === 200;
        },
      }),
  };
}

/** Returns true if the client accepts `text/html` explicitly, as browsers do, and not only through a wildcard. */
function acceptsHtml(accept: string | undefined): boolean {
  return /(?:^|,)\s*text\/html\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))/i.test(accept ?? '');
}

/**
 * Adds the name in a path such as `/account/alice.example` to the query of a request, so that the page's form contains
 * the name. Returns the request unchanged if the path has no such name or the query has a `did`.
 */
function mistyped(request: AccountRequest, path: string): AccountRequest {
  const { search } = request;
  const [, name = ''] = /^\/account\/([\w.:%@-]{1,300})\/?$/.exec(path) ?? [];
  return name === '' || /(?:^|&)did=/.test(search) ? request : { ...request, search: `did=${name}&${search}` };
}

/** Converts an HTTP request to the form that routes receive. */
function routedRequest(
  { target, acceptEncoding, acceptLanguage, client = 'unknown', reserve = () => true }: ReadRequest,
  now: number,
  gone: AbortSignal,
): AccountRequest {
  return { search: searchOf(target), acceptEncoding, acceptLanguage, now, client, gone, reserve };
}

/** Returns the OpenAPI document of this surface, or an error response if its file is missing. */
function documentReply(openapi: AccountAppOptions['openapi']): AccountReply {
  const found = openapi.bytes('identity');
  return found ? withBody(200, jsonType, found.bytes, accountCommonHeaders) : accountError('asset_unavailable');
}

/** Returns the response of a route, or an error response if the route fails. */
async function safely(
  route: AccountRoute,
  request: AccountRequest,
  alarm: (error: unknown) => void,
): Promise<AccountReply> {
  try {
    return await route(request);
  } catch (error) {
    const refused = refusalOf(error, alarm);
    return accountError(refused.code, refused);
  }
}

/** Returns a GET request for a page that the warm-up renders. */
function pageRequest(target: string): ReadRequest {
  return { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined, client: 'ourselves' };
}

/** Cost factor of an HTML page: rendering takes about ten times the processor time of a JSON response. */
const drawnWeight = 10;

/**
 * Returns the cost of a response in bytes. The cost of an HTML page is its length before compression, multiplied by
 * `drawnWeight`, because compression does not reduce the time for rendering.
 */
function costBytes({ headers, body, plainLength }: Reply): number {
  const isDrawn = headers.some((value) => value.startsWith('text/html'));
  return (plainLength ?? body?.length ?? 0) * (isDrawn ? drawnWeight : 1);
}

/** DID of an account without rows. Reading its page opens every file of the window at little cost. */
const emptyAccount = 'did:web:empty.invalid';
/** Maximum number of hot accounts that a warm-up reads. The runtime compiles the code only after several reads. */
const maxHotAccounts = 4;

/** Options for a warm-up. */
interface WarmUpOptions {
  readonly reading: Pick<ReadingPool, 'warm'>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Aborted when the service must not wait for the warm-up any longer. */
  readonly enough: AbortSignal;
  /** Renders the page of an account. Resolves to false if that fails. */
  readonly draw: (account: string) => Promise<boolean>;
}

/**
 * Opens the files in every reading process, then reads several hot accounts and renders their pages, so that the
 * first request waits neither for files nor for the compilation of code. Stops at the first page that cannot be
 * rendered. Resolves when `enough` is aborted, so that no account can prevent the service from listening.
 */
export async function warmUp({ reading, now, enough, draw }: WarmUpOptions): Promise<void> {
  if (!enough.aborted) await Promise.race([once(enough, 'abort'), warmUpFully()]);

  async function warmUpFully(): Promise<void> {
    await reading.warm((store) => store.view(viewOf(emptyAccount, now)));
    if (enough.aborted || !(await draw(emptyAccount))) return;
    let hotAccounts: readonly string[] = [];
    // Read the hot accounts in a second turn: opening uncached files may use up most of the time limit of the first
    // turn.
    await reading.warm(async (store) => {
      const found = await store.busyAccounts(maxHotAccounts);
      for (const account of found) {
        if (enough.aborted) return;
        await store.view(viewOf(account, now));
      }
      hotAccounts = found;
    });
    for (const account of hotAccounts) if (enough.aborted || !(await draw(account))) return;
  }
}

function viewOf(account: string, now: number): ViewQuery {
  const asked = { kind: 'days', days: windowDays } as const;
  return { query: { account, asked, filters: {} }, before: null, now: microsFromMillis(now) };
}
