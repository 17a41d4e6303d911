import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createAccountApp } from '../account/app.ts';
import { createClientBudget } from '../account/client-budget.ts';
import { createCostBudget } from '../account/cost-budget.ts';
import { createCursors } from '../account/cursor.ts';
import { accountPages, pageStyles } from '../account/page/pages.tsx';
import { createReadingPool, type ReadingTelemetry } from '../account/reading/reading-pool.ts';
import { accountCommonHeaders, accountError } from '../account/replies.ts';
import { readSecrets } from '../account/secret.ts';
import { assetFile } from '../http/asset-file.ts';
import { clientAddress } from '../http/client-address.ts';
import { createHttpServer } from '../http/server.ts';
import { errorFields, type Log } from '../ops/log.ts';
import type { Values } from '../ops/setting.ts';
import { parseStoreUrl } from '../store/open.ts';
import type { AccountMetrics } from './account-metrics.ts';
import type { accountSettings } from './account-settings.ts';
import { packageRoot } from './command.ts';
import { connectionBounds } from './connection-bounds.ts';
import { userAgentFor } from './contact-setting.ts';
import { handleFinder } from './handle-finder.ts';
import { basePath, graceMs, listenOn } from './listen.ts';

/** An account server that listens. */
export interface RunningAccount {
  readonly port: number;
  stop(): Promise<void>;
}

const noTelemetry: ReadingTelemetry = { turn: () => undefined, busy: () => undefined, restarted: () => undefined };

/** The part of the unsent bytes that one client may hold: one in so many. */
const clientShare = 8;

/** Longest time before it listens whatever is ready, in milliseconds. */
const warmMs = 5_000;

/**
 * Starts the account-view surface over a store; `asked` is aborted when it is asked to stop meanwhile. Throws
 * OperatorError when it cannot listen or has no secret.
 */
export async function startAccount(
  settings: Values<typeof accountSettings>,
  log: Log,
  metrics: AccountMetrics | null,
  asked: AbortSignal,
): Promise<RunningAccount> {
  parseStoreUrl(settings.store);
  const telemetry = metrics ?? noTelemetry;
  const reading = createReadingPool({
    url: settings.store,
    readers: settings.readers,
    maxWaiting: settings.queue,
    waitMs: settings.queueMs,
    deadlineMs: settings.readMs,
    monotonic: () => performance.now(),
    telemetry: {
      ...telemetry,
      restarted: () => {
        log.warn('a store-reading process ended and is being replaced');
        telemetry.restarted();
      },
    },
  });
  metrics?.waiting(reading.waiting);
  const alarm = (route: string, error: unknown): void =>
    log.error('a request failed', { route, ...errorFields(error) });
  const handles = settings.noHandles ? null : handleFinder(settings.plc, userAgentFor(settings));
  const app = createAccountApp({
    reading,
    cursors: createCursors(readSecrets(settings.secretFile ?? join(settings.data, 'account-secret'))),
    budget: createClientBudget(settings.clientAccounts === 0 ? null : settings.clientAccounts),
    cost: createCostBudget(settings.clientCost === 0 ? null : settings.clientCost),
    clock: Date.now,
    bounds: {
      maxExportRows: settings.maxExportRows,
      pageRows: settings.pageRows,
      ttlMs: settings.exportTtlSeconds * 1000,
    },
    basePath: basePath(settings.basePath),
    openapi: assetFile(join(packageRoot(), 'assets', 'account-openapi.json')),
    pages: accountPages({
      base: basePath(settings.basePath),
      styles: new Map(pageStyles.map((name) => [name, assetFile(join(packageRoot(), 'assets', name))])),
      findHandle: handles?.find ?? null,
      alarm,
    }),
    alarm,
    answered: (route, status) => {
      metrics?.answered(route, status);
      if (settings.accessLog) log.info('answered', { route, status });
    },
  });
  const unsentBytes = settings.unsentMegabytes * 1024 * 1024;
  const server = createHttpServer({
    answerLater: app.answer,
    common: accountCommonHeaders,
    clock: Date.now,
    failed: (error) => log.error('a response failed', errorFields(error)),
    clientOf: clientAddress(settings.trustProxy, untrustedProxy(log, metrics)),
    connections: connectionBounds(settings),
    unsent: { perClient: unsentBytes / clientShare, total: unsentBytes },
    overloaded: accountError('store_busy', { retryAfterSeconds: 5 }),
    ...(metrics ? { onCut: metrics.cut } : {}),
  });
  metrics?.connections(server.connections);
  const { host, port } = settings;
  // A client that comes meanwhile would wait longer than the queue lets it.
  await app.warm(Date.now(), AbortSignal.any([asked, AbortSignal.timeout(warmMs)]));
  const listening = await (asked.aborted ? Promise.reject(asked.reason) : listenOn(server, { host, port })).catch(
    async (error: unknown) => {
      await reading.stop();
      await handles?.close();
      throw error;
    },
  );
  log.info('listening', { host, port: listening, startedInMs: Math.round(performance.now()) });
  return {
    port: listening,
    async stop() {
      await server.stop(graceMs);
      await reading.stop();
      await handles?.close();
      log.info('stopped');
    },
  };
}

/** Counts requests through a proxy that is not trusted, and logs the first: fairness goes by clients, and there is one. */
function untrustedProxy(log: Log, metrics: AccountMetrics | null): () => void {
  let logged = false;
  return () => {
    metrics?.untrustedProxy();
    if (logged) return;
    logged = true;
    log.warn(
      'requests come through a proxy although --trust-proxy is 0: all its clients count as one; set --trust-proxy',
    );
  };
}
