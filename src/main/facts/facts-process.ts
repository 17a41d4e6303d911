import { join } from 'node:path';
import { servableArchive } from '../../archive/serving/servable.ts';
import { type ArchiveSummary, archiveSummary } from '../../archive/summary/archive-summary.ts';
import { createFactsApp, factsCommonHeaders } from '../../facts/app.ts';
import { archivePrefix, archiveReplies, archiveRoute } from '../../facts/archive/archive-replies.ts';
import { type FactsDocuments, factsDocuments } from '../../facts/documents.ts';
import {
  type LabelersPublication,
  type LabelersPublicationOptions,
  labelersPublication,
} from '../../facts/labelers/publication.ts';
import type { AccountLinks } from '../../facts/page/page.tsx';
import { clientAddress } from '../../http/connections/network-tiers.ts';
import { pathOf } from '../../http/read-request.ts';
import { createHttpServer, type FileAnswering } from '../../http/server.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { findIdentityIn } from '../archived-identity.ts';
import { packageRoot } from '../command.ts';
import { basePath, listenOn, type RunningServer } from '../serve.ts';
import type { FactsMetrics } from '../server-metrics.ts';
import { connectionBounds, operatorBase, operatorUrl, parseSampleAccounts, userAgentFor } from '../shared-settings.ts';
import { artifactSources, labelersArtifact } from './artifact-sources.ts';
import type { FactsValues } from './facts-settings.ts';

/**
 * Starts the facts API of one process. Rejects with OperatorError if a setting is invalid or the server cannot listen.
 */
export async function startFacts(
  settings: FactsValues,
  log: Log,
  metrics: FactsMetrics | null,
): Promise<RunningServer> {
  const { labels, weather, hours } = artifactSources(settings, log, metrics?.observed);
  const bounds = {
    maxAgeSeconds: settings.maxAgeSeconds,
    collectionMaxAgeSeconds: settings.collectionMaxAgeSeconds ?? settings.maxAgeSeconds,
  };
  const alarm = (path: string, error: unknown): void =>
    log.error('a fact could not be projected from its artifact', { path, ...errorFields(error) });
  const labelers = startedLabelers(settings, log, { overview: labels, bounds, alarm });
  const accounts = accountLinks(settings);
  const archive = archiveSummaryOf(settings, log);
  const observeAnswer = metrics || logsAccess(settings) ? answered(settings, log, metrics) : null;
  const answer = createFactsApp({
    labels,
    weather,
    hours,
    bounds,
    labelers: labelers.publication,
    ...(archive ? { archive } : {}),
    basePath: basePath(settings.basePath),
    documents: documentsOf(settings, accounts?.url ?? null),
    accounts,
    publicUrl: settings.publicUrl === null ? null : linkBase(settings),
    alarm,
    ...(observeAnswer ? { answered: observeAnswer } : {}),
  });
  const server = createHttpServer({
    answer,
    ...archiveFiles(settings, observeAnswer),
    common: factsCommonHeaders,
    clock: Date.now,
    failed: (error) => log.error('a request failed', errorFields(error)),
    connections: connectionBounds(settings),
    ...(metrics ? { onCut: metrics.cut } : {}),
    ...(settings.accessLogClients ? { clientOf: clientAddress(settings.trustProxy) } : {}),
  });
  metrics?.connections(server.connections);
  const sources = [labels, weather, hours.weather, hours.labels, labelers.source, archive];
  await Promise.all(sources.map(async (source) => source?.start()));
  metrics?.artifacts({ labels, weather });
  return listenOn(server, settings, log, () => Promise.all(sources.map(async (source) => source?.stop())));
}

/** Creates the source of the labelers artifact and the publication of its documents. */
function startedLabelers(
  settings: FactsValues,
  log: Log,
  options: Pick<LabelersPublicationOptions, 'overview' | 'bounds' | 'alarm'>,
) {
  // Prepare the list after each check of the files, so that no client has to wait for it.
  const polled = (): void => publication.warm(Date.now());
  const { source, graceMs } = labelersArtifact(settings, log, polled);
  const publication: LabelersPublication = labelersPublication({
    ...options,
    labelers: source,
    graceMs,
    common: factsCommonHeaders,
  });
  return { source, publication };
}

function documentsOf(settings: FactsValues, accountUrl: string | null): FactsDocuments {
  const reader = { userAgent: userAgentFor(settings), contact: settings.contact };
  return factsDocuments(join(packageRoot(), 'assets'), factsCommonHeaders, linkBase(settings), reader, accountUrl);
}

function accountLinks({ accountUrl, sampleAccounts }: FactsValues): AccountLinks | null {
  if (accountUrl === null) return null;
  return { url: operatorBase('account-url', accountUrl), samples: parseSampleAccounts(sampleAccounts) };
}

type ObserveAnswer = (route: string, status: number, client: string | undefined) => void;

/** Returns the summary of the archive for its page, or null if no archive is configured. */
function archiveSummaryOf({ archive, pollSeconds }: FactsValues, log: Log): ArchiveSummary | null {
  if (archive === null) return null;
  const failed = (error: unknown): void =>
    log.warn('the archive page cannot be updated, because the files of the archive cannot be read', errorFields(error));
  return archiveSummary({ root: archive, pollMs: pollSeconds * 1000, findIdentityIn, failed });
}

/** Returns the server option that serves the archive's files, or no option if no archive is configured. */
function archiveFiles(settings: FactsValues, observe: ObserveAnswer | null): { readonly files?: FileAnswering } {
  const { archive } = settings;
  if (archive === null) return {};
  const replies = archiveReplies({ directory: servableArchive(archive), common: factsCommonHeaders });
  const prefix = `${basePath(settings.basePath)}${archivePrefix}`;
  return {
    files: {
      owns: (target) => pathOf(target).startsWith(prefix),
      peerOf: clientAddress(settings.trustProxy),
      answer: async (request, now) => {
        const reply = await replies.reply(pathOf(request.target).slice(prefix.length), request, now);
        observe?.(archiveRoute, reply.status, request.client);
        return reply;
      },
    },
  };
}

function answered(settings: FactsValues, log: Log, metrics: FactsMetrics | null) {
  return (route: string, status: number, client: string | undefined): void => {
    metrics?.answered(route, status);
    if (logsAccess(settings)) log.info('answered', { route, status, ...(client === undefined ? {} : { client }) });
  };
}

function logsAccess({ accessLog, accessLogClients }: FactsValues): boolean {
  return accessLog || accessLogClients;
}

/** Returns the prefix of links: the public URL if it is configured, otherwise the base path. */
function linkBase({ publicUrl, basePath: path }: FactsValues): string {
  if (publicUrl === null) return basePath(path);
  operatorUrl('public-url', publicUrl);
  return publicUrl.replace(/\/+$/, '');
}
