import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type AccountApp, createAccountApp } from '../../account/app.ts';
import { createClientBudget, createCostBudget } from '../../account/budget/budgets.ts';
import { createCursors, readSecrets } from '../../account/cursor/cursor.ts';
import { cacheHandles } from '../../account/page/handle-cache.ts';
import { accountPages, type FindHandle, pageStyles } from '../../account/page/pages.tsx';
import { createReadingPool, type ReadingPool, type ReadingTelemetry } from '../../account/reading/reading-pool.ts';
import { accountCommonHeaders, accountError } from '../../account/route.ts';
import { clientAddress } from '../../http/connections/network-tiers.ts';
import { assetFile } from '../../http/representation/asset-file.ts';
import { createHttpServer, type HttpServer } from '../../http/server.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import { createHttpClient } from '../../network/http/http.ts';
import { createIdentityResolver, resolveHandle } from '../../network/identity/identity.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { Values } from '../../ops/setting.ts';
import { movedNote } from '../../store/errors.ts';
import { parseStoreUrl } from '../../store/open.ts';
import { compactStyles } from '../../web/document.tsx';
import { packageRoot } from '../command.ts';
import { basePath, listenOn, type RunningServer } from '../serve.ts';
import {
  connectionBounds,
  directoriesOf,
  operatorBase,
  parseSampleAccounts,
  userAgentFor,
} from '../shared-settings.ts';
import type { AccountMetrics } from './account-metrics.ts';
import type { accountSettings } from './account-settings.ts';

const noTelemetry: ReadingTelemetry = {
  turn: () => undefined,
  busy: () => undefined,
  storeFailed: () => undefined,
  restarted: () => undefined,
};

/** Limit on the unsent bytes of all clients, divided by the limit for one client. */
const clientShare = 8;

/**
 * Duration after which a turn at the store counts as long, in milliseconds. The number of concurrent long turns is
 * limited.
 */
const readSliceMs = 1_000;

/** Maximum time by which the warm-up may delay startup, in milliseconds. */
const warmMs = 5_000;

type AccountValues = Values<typeof accountSettings>;

/** Settings and outputs shared by all parts of the account server. */
interface Parts {
  readonly settings: AccountValues;
  readonly log: Log;
  readonly metrics: AccountMetrics | null;
}

/**
 * Starts the account-view surface over a store. If `asked` aborts during startup, the promise rejects. Rejects with
 * OperatorError if a setting is invalid, if the server cannot listen, or if its secret can be neither read nor
 * created.
 */
export async function startAccount(
  settings: AccountValues,
  log: Log,
  metrics: AccountMetrics | null,
  asked: AbortSignal,
): Promise<RunningServer> {
  parseStoreUrl(settings.store);
  const parts: Parts = { settings, log, metrics };
  const reading = poolOf(parts);
  const handles = settings.noHandles ? null : handleFinder(settings);
  const app = appOf(parts, reading, handles?.find ?? null);
  const server = serverOf(parts, app);
  const stopRest = async (): Promise<void> => {
    await reading.stop();
    await handles?.close();
  };
  await warnIfMoved(reading, log);
  // Warm up before listening: otherwise an early client would wait longer than the queue allows.
  await app.warm(Date.now(), AbortSignal.any([asked, AbortSignal.timeout(warmMs)]));
  try {
    asked.throwIfAborted();
    return await listenOn(server, settings, log, stopRest);
  } catch (error) {
    await stopRest();
    throw error;
  }
}

/** Logs a warning if a copy has replaced the store, because the store can still be read but gets no new rows. */
async function warnIfMoved(reading: ReadingPool, log: Log): Promise<void> {
  // Ignore errors: a store that cannot be read causes error responses.
  const since = await reading.run({ client: 'ourselves' }, (store) => store.note(movedNote)).catch(() => null);
  if (since !== null)
    log.warn('a copy has replaced this store: it gets no new rows; set --store to the copy', { since });
}

/** Creates the pool of processes that read the store. */
function poolOf({ settings, log, metrics }: Parts): ReadingPool {
  const telemetry = metrics ?? noTelemetry;
  const reading = createReadingPool({
    url: settings.store,
    readers: settings.readers,
    maxWaiting: settings.queue,
    waitMs: settings.queueMs,
    deadlineMs: settings.readMs,
    sliceMs: readSliceMs,
    monotonic: () => performance.now(),
    telemetry: {
      ...telemetry,
      restarted: () => {
        log.warn('a store-reading process exited and is being replaced');
        telemetry.restarted();
      },
    },
  });
  metrics?.waiting(reading.waiting);
  return reading;
}

/** Creates the application. Throws OperatorError if the secret can be neither read nor created. */
function appOf({ settings, log, metrics }: Parts, reading: ReadingPool, findHandle: FindHandle | null): AccountApp {
  const alarm = (route: string, error: unknown): void =>
    log.error('a request failed', { route, ...errorFields(error) });
  return createAccountApp({
    reading,
    cursors: createCursors(readSecrets(settings.secretFile ?? join(settings.data, 'account-secret'))),
    budget: createClientBudget(settings.clientAccounts === 0 ? null : settings.clientAccounts),
    cost: createCostBudget(settings.clientCost === 0 ? null : settings.clientCost),
    clock: Date.now,
    monotonic: () => performance.now(),
    bounds: {
      maxExportRows: settings.maxExportRows,
      pageRows: settings.pageRows,
      ttlMs: settings.exportTtlSeconds * 1000,
    },
    basePath: basePath(settings.basePath),
    openapi: assetFile(join(packageRoot(), 'assets', 'account-openapi.json')),
    pages: accountPages({
      base: basePath(settings.basePath),
      styles: new Map(pageStyles.map((name) => [name, assetFile(join(packageRoot(), 'assets', name), compactStyles)])),
      findHandle,
      factsUrl: settings.factsUrl === null ? null : operatorBase('facts-url', settings.factsUrl),
      samples: parseSampleAccounts(settings.sampleAccounts),
      alarm,
    }),
    alarm,
    answered: (route, status) => {
      metrics?.answered(route, status);
      if (settings.accessLog) log.info('answered', { route, status });
    },
  });
}

/** Creates the server without starting to listen. */
function serverOf({ settings, log, metrics }: Parts, app: AccountApp): HttpServer {
  const unsentBytes = settings.unsentMegabytes * 1024 * 1024;
  const server = createHttpServer({
    answerLater: app.answer,
    common: accountCommonHeaders,
    clock: Date.now,
    failed: (error) => log.error('a response failed', errorFields(error)),
    clientOf: clientAddress(settings.trustProxy, untrustedProxy(log, metrics)),
    proxies: settings.trustProxy,
    connections: connectionBounds(settings),
    unsent: { perClient: unsentBytes / clientShare, total: unsentBytes },
    overloaded: accountError('store_busy', { retryAfterSeconds: 5 }),
    ...(metrics ? { onCut: metrics.cut } : {}),
  });
  metrics?.connections(server.connections);
  return server;
}

/**
 * Returns a function that counts requests through an untrusted proxy and logs the first one, because all clients of the
 * proxy count as one.
 */
function untrustedProxy(log: Log, metrics: AccountMetrics | null): () => void {
  let logged = false;
  return () => {
    metrics?.untrustedProxy();
    if (logged) return;
    logged = true;
    log.warn(
      'requests come through a proxy although --trust-proxy is 0: all clients of the proxy count as one; set --trust-proxy',
    );
  };
}

/**
 * Creates a function that resolves handles through the guarded client, and a function that closes the client's
 * connections. Only a few resolutions run concurrently, because any client can cause one.
 */
export function handleFinder(settings: Pick<AccountValues, 'plc' | 'contact'>): {
  readonly find: FindHandle;
  close(): Promise<void>;
} {
  const { plc: plcUrl, plcReplicas } = directoriesOf(settings.plc);
  const policy = { allowLoopback: false };
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, total: 32, perDomain: 4 });
  const bounds = { policy, total: 8, perHost: 2, maxWaiting: 64, userAgent: userAgentFor(settings) };
  const http = createHttpClient({ ...bounds, perDomain: 4, resolve: strangers.resolve });
  // Use a separate client for the directory, because untrusted hosts named in handles may hang and must not delay
  // requests to the directory.
  const directory = createHttpClient({ ...bounds, perHost: 4, resolve: own.resolve });
  const web = { http, timeoutMs: 5_000 };
  const clock = () => performance.now();
  const identity = createIdentityResolver({ http: directory, web, plcUrl, plcReplicas, policy, clock });
  const { resolveTxt } = strangers;
  return {
    find: cacheHandles((handle, signal) => resolveHandle(handle, { http, identity, resolveTxt }, signal), clock),
    async close() {
      await Promise.all([http.close(), directory.close()]);
    },
  };
}
