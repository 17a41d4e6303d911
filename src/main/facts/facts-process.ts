import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDid } from '../../contract/identifiers.ts';
import { createFactsApp, factsCommonHeaders } from '../../facts/app.ts';
import { factsDocuments } from '../../facts/documents.ts';
import type { AccountLinks } from '../../facts/page/accounts.tsx';
import { clientAddress } from '../../http/connections/client-address.ts';
import { createHttpServer } from '../../http/server.ts';
import { httpSchemes } from '../../input/url.ts';
import { OperatorError } from '../../ops/errors.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { Values } from '../../ops/setting.ts';
import { packageRoot } from '../command.ts';
import { connectionBounds } from '../connection-bounds.ts';
import { userAgentFor } from '../contact-setting.ts';
import { basePath, graceMs, listenOn } from '../listen.ts';
import { operatorUrl } from '../operator-url.ts';
import { artifactSources } from './artifact-sources.ts';
import type { FactsMetrics } from './facts-metrics.ts';
import type { factsSettings } from './facts-settings.ts';

/** A listening facts server. */
export interface RunningFacts {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the facts API of one process. Throws OperatorError if the server cannot listen. */
export async function startFacts(
  settings: Values<typeof factsSettings>,
  log: Log,
  metrics: FactsMetrics | null,
): Promise<RunningFacts> {
  const clock = Date.now;
  const observed = metrics ? { observed: metrics.observed } : {};
  const { labels, weather } = artifactSources(settings, { log, clock, ...observed });
  const answer = createFactsApp({
    labels,
    weather,
    bounds: {
      maxAgeSeconds: settings.maxAgeSeconds,
      collectionMaxAgeSeconds: settings.collectionMaxAgeSeconds ?? settings.maxAgeSeconds,
    },
    basePath: basePath(settings.basePath),
    documents: factsDocuments(join(packageRoot(), 'assets'), factsCommonHeaders, linkBase(settings), {
      userAgent: userAgentFor(settings),
      contact: settings.contact,
    }),
    accounts: accountLinks(settings),
    alarm: (path, error) => log.error('a fact could not be built', { path, ...errorFields(error) }),
    ...(metrics || logsAccess(settings) ? { answered: answered(settings, log, metrics) } : {}),
  });
  const server = createHttpServer({
    answer,
    common: factsCommonHeaders,
    clock,
    failed: (error) => log.error('a request failed', errorFields(error)),
    connections: connectionBounds(settings),
    ...(metrics ? { onCut: metrics.cut } : {}),
    ...(settings.accessLogClients ? { clientOf: clientAddress(settings.trustProxy) } : {}),
  });
  metrics?.connections(server.connections);
  await Promise.all([labels.start(), weather.start()]);
  const { host, port } = settings;
  const listening = await listenOn(server, { host, port });
  log.info('listening', { host, port: listening, startedInMs: Math.round(performance.now()) });
  return {
    port: listening,
    async stop() {
      await server.stop(graceMs);
      await Promise.all([labels.stop(), weather.stop()]);
      log.info('stopped');
    },
  };
}

function accountLinks({ accountUrl, sampleAccounts }: Values<typeof factsSettings>): AccountLinks | null {
  const url = accountUrl === null ? null : operatorUrl('account-url', accountUrl, { schemes: httpSchemes }).href;
  const samples = sampleAccounts.map((text) => {
    const [did = '', ...words] = text.trim().split(/\s+/);
    if (!isDid(did)) throw new OperatorError(`--sample-account requires a DID; got ${JSON.stringify(text)}`);
    return { did, shows: words.length === 0 ? null : words.join(' ') };
  });
  return url === null ? null : { url: url.replace(/\/+$/, ''), samples };
}

function answered(settings: Values<typeof factsSettings>, log: Log, metrics: FactsMetrics | null) {
  return (route: string, status: number, client: string | undefined): void => {
    metrics?.answered(route, status);
    if (logsAccess(settings)) log.info('answered', { route, status, ...(client === undefined ? {} : { client }) });
  };
}

function logsAccess({ accessLog, accessLogClients }: Values<typeof factsSettings>): boolean {
  return accessLog || accessLogClients;
}

/** Returns the prefix of links: the public URL if it is set, or the base path. */
function linkBase({ publicUrl, basePath: path }: Values<typeof factsSettings>): string {
  if (publicUrl === null) return basePath(path);
  operatorUrl('public-url', publicUrl, { schemes: httpSchemes });
  return publicUrl.replace(/\/+$/, '');
}
