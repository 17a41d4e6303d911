import { once } from 'node:events';
import { accountPaths } from '../contract/account.ts';
import type { AccountErrorCode } from '../contract/errors.ts';
import { microsFromMillis } from '../contract/timestamp.ts';
import { below, pathOf, type ReadRequest } from '../http/read-request.ts';
import { json, jsonType, preflight, type Reply, withBody } from '../http/reply.ts';
import type { AssetFile } from '../http/representation/asset-file.ts';
import { StoreError } from '../store/errors.ts';
import { BudgetSpent, type ClientBudget, type CostBudget } from './budget/budgets.ts';
import type { Cursors } from './cursor/cursor.ts';
import type { ExportBounds } from './export/exports.ts';
import { rememberManifests } from './export/manifest.ts';
import { downloadRoute, exportsRoute } from './export/routes.ts';
import { searchOf, windowDays } from './query/query.ts';
import { type BehindOptions, createBehindWait, StoreBehind } from './reading/behind.ts';
import { MemoryRefused, patiently, type ReadingPool, StoreBusy } from './reading/reading-pool.ts';
import { accountCommonHeaders, accountError } from './replies.ts';
import {
  type AccountReply,
  type AccountRequest,
  type AccountRoute,
  type AccountServices,
  missingPage,
} from './route.ts';
import type { ViewQuery } from './view/view.ts';

/** Options for the account application. */
interface AccountAppOptions {
  readonly reading: ReadingPool;
  readonly cursors: Cursors;
  readonly budget: ClientBudget;
  readonly cost: CostBudget;
  readonly bounds: ExportBounds;
  /** Prefix of every path: empty, or `/name` without a trailing slash. */
  readonly basePath: string;
  /** OpenAPI document of the account surface. */
  readonly openapi: AssetFile;
  /** Creates the routes of the HTML pages, by path. */
  readonly pages: (services: AccountServices) => ReadonlyMap<string, AccountRoute>;
  /** Called with errors whose details are not sent to clients. The arguments never contain an account. */
  readonly alarm: (route: string, error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Resolves after a number of milliseconds; by default a timer. Tests replace it. */
  readonly pause?: BehindOptions['pause'];
  /** Called after each response; `route` is the path of a route, or `other` for a path without a route. */
  readonly answered?: (route: string, status: number) => void;
}

/**
 * Bytes of memory reserved for a response that reads the store: an export page with its manifest, or an account page.
 */
const reservedBytes = 2 * 1024 * 1024;

const robots = Buffer.from('User-agent: *\nDisallow: /\n');

/** `Retry-After` in seconds if the store cannot be read now, for example because it does not exist yet or is locked. */
const storeRetrySeconds = 5;

/** `Retry-After` in seconds if a standby has not received all data up to the requested end. */
const behindRetrySeconds = 2;

/** `Retry-After` in seconds if unsent responses have used up the memory limit. */
const unsentRetrySeconds = 5;

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
  const services = servicesOf(options);
  const health = json(200, { status: 'ok', service: 'almanac-account' }, common);
  const excluded = withBody(200, 'text/plain; charset=utf-8', robots, common);
  const notFound = accountError('not_found');
  const notAllowed = accountError('method_not_allowed');
  const options204 = preflight(common);

  const routes = new Map<string, AccountRoute>([
    ...options.pages(services),
    [accountPaths.exports, exportsRoute(services)],
    [accountPaths.download, downloadRoute(services)],
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

/**
 * Returns the response of a route, or an error response if the route fails. Calls `alarm` with errors that are bugs or
 * need the operator.
 */
async function safely(
  route: AccountRoute,
  request: AccountRequest,
  alarm: (error: unknown) => void,
): Promise<AccountReply> {
  try {
    return await route(request);
  } catch (error) {
    const refused = refusalOf(error);
    if (!refused || isFatal(error)) alarm(error);
    return refused ? accountError(refused.code, refused) : accountError('internal_error');
  }
}

/** Returns a GET request for a page that the warm-up renders. */
function pageRequest(target: string): ReadRequest {
  return { method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined, client: 'ourselves' };
}

/** Creates the services that all routes share: store reads, budgets, cursors and manifests. */
function servicesOf({ reading, cursors, budget, cost, bounds, clock, pause }: AccountAppOptions): AccountServices {
  const untilReceived = createBehindWait({ clock, ...(pause && { pause }) });
  const services: AccountServices = {
    async read({ client, gone, reserve }, account, work) {
      const wait = cost.waitFor(client, clock());
      if (wait !== null) throw new BudgetSpent(wait);
      const onCost = (readMs: number): void => cost.charge(client, { readMs }, clock());
      const turn = { client, signal: gone, onCost, ...(account === null ? {} : { account }) };
      const run = () =>
        reading.run(turn, (store) => {
          // Reserve memory inside the turn, so that waiting requests hold none, but before the turn reads any data.
          if (!reserve(reservedBytes)) throw new MemoryRefused(unsentRetrySeconds);
          return work(store);
        });
      const found = await untilReceived(run, gone);
      // Do not render a page for a client that has disconnected: rendering costs more than reading the data.
      if (gone.aborted) throw new StoreBusy('left', 1);
      return found;
    },
    readPatiently: (request, account, work) => patiently(() => services.read(request, account, work), request.gone),
    sent: ({ client }, bytes) => cost.charge(client, { bytes }, clock()),
    waitFor: ({ client, now }, account) => budget.waitFor(client, account, now),
    cursors,
    manifests: rememberManifests(),
    bounds,
  };
  return services;
}

/** Returns true if a store error requires action by the operator. */
export function isFatal(error: unknown): boolean {
  return error instanceof StoreError && error.fatal;
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

/** Error response for a request whose data could not be read. */
interface ReadRefusal {
  readonly code: Extract<
    AccountErrorCode,
    'client_budget' | 'store_busy' | 'store_behind' | 'snapshot_expired' | 'export_too_large'
  >;
  readonly retryAfterSeconds?: number;
}

/** Returns the error response for an error of a read, or null if the error is a bug in this program. */
export function refusalOf(error: unknown): ReadRefusal | null {
  if (error instanceof BudgetSpent) return { code: 'client_budget', retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof StoreBusy) return { code: 'store_busy', retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof StoreBehind) return { code: 'store_behind', retryAfterSeconds: behindRetrySeconds };
  if (!(error instanceof StoreError)) return null;
  switch (error.code) {
    case 'out_of_window':
      // The start of the retained window moved between two reads, so the requested rows have been removed.
      return { code: 'snapshot_expired' };
    case 'budget_exceeded':
      return { code: 'export_too_large' };
    case 'busy':
    case 'unreachable':
    case 'closed':
    case 'not_a_store':
    // Never return data of a damaged day; the operator must restore the day.
    case 'damaged':
    case 'io_failed':
    case 'misconfigured':
    case 'unexpected':
      return { code: 'store_busy', retryAfterSeconds: storeRetrySeconds };
    default:
      return null;
  }
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
