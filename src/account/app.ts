import { accountPaths } from '../contract/account.ts';
import type { AccountErrorCode } from '../contract/account-errors.ts';
import type { ReadRequest } from '../http/read-request.ts';
import { json, jsonType, preflight, type Reply, withBody } from '../http/reply.ts';
import type { AssetFile } from '../http/representation/asset-file.ts';
import { below, pathOf } from '../http/target.ts';
import { StoreError } from '../store/errors.ts';
import type { ClientBudget } from './budget/client-budget.ts';
import { BudgetSpent, type CostBudget } from './budget/cost-budget.ts';
import type { Cursors } from './cursor/cursor.ts';
import { downloadRoute } from './export/download-route.ts';
import type { ExportBounds } from './export/exports.ts';
import { exportsRoute } from './export/exports-route.ts';
import { rememberManifests } from './export/manifest.ts';
import { searchOf } from './query/parameters.ts';
import { MemoryRefused, type ReadingPool, StoreBusy } from './reading/reading-pool.ts';
import { warmUp } from './reading/warm-up.ts';
import { accountCommonHeaders, accountError } from './replies.ts';
import type { AccountReply, AccountRequest, AccountRoute, AccountServices } from './route.ts';

/** Dependencies of the account application. */
export interface AccountAppOptions {
  readonly reading: ReadingPool;
  readonly cursors: Cursors;
  readonly budget: ClientBudget;
  readonly cost: CostBudget;
  readonly bounds: ExportBounds;
  /** Prefix of every path, `''` or `/name` without a slash at its end. */
  readonly basePath: string;
  /** The OpenAPI document of this surface. */
  readonly openapi: AssetFile;
  /** The routes of the pages for people, by path. */
  readonly pages: (services: AccountServices) => ReadonlyMap<string, AccountRoute>;
  /** Told of what no client is told; never of an account. */
  readonly alarm: (route: string, error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of every answer; `route` is a path of the closed list, or `other`. */
  readonly answered?: (route: string, status: number) => void;
}

/** Memory reserved for a response with rows: a page of an export or an account, including its manifest. */
const reservedBytes = 2 * 1024 * 1024;

const robots = Buffer.from('User-agent: *\nDisallow: /\n');

/** Seconds after which a store that is not there, or is held by another process, is worth another try. */
const storeRetrySeconds = 5;

/** Seconds after which a client whose responses are unsent may have taken some. */
const unsentRetrySeconds = 5;

/** The account application. */
export interface AccountApp {
  /** Answers a request at an instant (milliseconds since 1970). */
  answer(request: ReadRequest, now: number, gone: AbortSignal): Promise<AccountReply>;
  /**
   * Makes ready what the first client would wait for: opened files, and code that has run before. Resolves at the latest
   * when it is `enough`, and never rejects: a store that is not there yet is opened by the turn that finds it.
   */
  warm(now: number, enough: AbortSignal): Promise<void>;
}

/** Makes it: a closed table of paths, each exact. */
export function createAccountApp(options: AccountAppOptions): AccountApp {
  const { reading, cursors, budget, cost, bounds, basePath, openapi, alarm, clock, answered } = options;
  const common = accountCommonHeaders;
  const services: AccountServices = {
    async read({ client, gone, reserve }, account, work) {
      const wait = cost.waitFor(client, clock());
      if (wait !== null) throw new BudgetSpent(wait);
      const onCost = (readMs: number): void => cost.charge(client, { readMs }, clock());
      const turn = { client, signal: gone, onCost, ...(account === null ? {} : { account }) };
      const found = await reading.run(turn, (store) => {
        // In the turn, before anything is read: requests that wait for a turn hold no memory that others need.
        if (!reserve(reservedBytes)) throw new MemoryRefused(unsentRetrySeconds);
        return work(store);
      });
      // To draw a page costs more than to read for it: nothing is drawn for a client that has left.
      if (gone.aborted) throw new StoreBusy('left', 1);
      return found;
    },
    sent: ({ client }, bytes) => cost.charge(client, { bytes }, clock()),
    waitFor: ({ client, now }, account) => budget.waitFor(client, account, now),
    cursors,
    manifests: rememberManifests(),
    bounds,
  };
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
    [accountPaths.openapi, () => document()],
    ['/robots.txt', () => excluded],
  ]);

  function document(): AccountReply {
    const found = openapi.bytes('identity');
    return found ? withBody(200, jsonType, found.bytes, common) : accountError('asset_unavailable');
  }

  async function safely(path: string, route: AccountRoute, request: AccountRequest): Promise<AccountReply> {
    try {
      return await route(request);
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused || isFatal(error)) alarm(path, error);
      return refused ? accountError(refused.code, refused) : accountError('internal_error');
    }
  }

  async function replyTo(
    { method, target, acceptEncoding, client = 'unknown', reserve = () => true }: ReadRequest,
    now: number,
    gone: AbortSignal,
  ): Promise<{ route: string; reply: AccountReply }> {
    if (method === 'OPTIONS') return { route: 'other', reply: options204 };
    if (method !== 'GET' && method !== 'HEAD') return { route: 'other', reply: notAllowed };
    const path = below(basePath, pathOf(target));
    const route = path === null ? undefined : routes.get(path);
    if (path === null || !route) return { route: 'other', reply: notFound };
    const request: AccountRequest = { search: searchOf(target), acceptEncoding, now, client, gone, reserve };
    return { route: path, reply: await safely(path, route, request) };
  }

  return {
    async answer(request, now, gone) {
      const { route, reply } = await replyTo(request, now, gone);
      if ('body' in reply && request.method === 'GET')
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
          const asked = {
            method: 'GET',
            target,
            ifNoneMatch: undefined,
            acceptEncoding: undefined,
            client: 'ourselves',
          };
          const { reply } = await replyTo(asked, now, enough);
          return reply.status === 200;
        },
      }),
  };
}

/** Returns true if an operator must act on a store error: a client waits, and the operator must be notified. */
export function isFatal(error: unknown): boolean {
  return error instanceof StoreError && error.fatal;
}

/** A page for a person is drawn, which costs this process ten times what it costs to pass on rows. */
const drawnWeight = 10;

/** The bytes that a reply counts as. */
function costBytes({ headers, body }: Reply): number {
  const isDrawn = headers.some((value) => value.startsWith('text/html'));
  return (body?.length ?? 0) * (isDrawn ? drawnWeight : 1);
}

/** Maps an error of reading to the client's error; null if it is our own bug. */
export function refusalOf(
  error: unknown,
): { readonly code: AccountErrorCode; readonly retryAfterSeconds?: number } | null {
  if (error instanceof BudgetSpent) return { code: 'client_budget', retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof StoreBusy) return { code: 'store_busy', retryAfterSeconds: error.retryAfterSeconds };
  if (!(error instanceof StoreError)) return null;
  switch (error.code) {
    case 'out_of_window':
      // The floor rose between two reads: what was asked for is kept no longer.
      return { code: 'snapshot_expired' };
    case 'budget_exceeded':
      return { code: 'export_too_large' };
    case 'busy':
    case 'closed':
    case 'not_a_store':
    // Nothing of a damaged day is served; an operator has to restore it.
    case 'damaged':
    case 'io_failed':
    case 'unexpected':
      return { code: 'store_busy', retryAfterSeconds: storeRetrySeconds };
    default:
      return null;
  }
}
