import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { servableArchive } from '../../archive/serving/servable.ts';
import { type ArchiveSummary, archiveSummary } from '../../archive/summary/archive-summary.ts';
import {
  type LabelersReading,
  LabelersSource,
  labelerFiles,
  labelerUrls,
  type ReadLabelerBytes,
} from '../../artifact/labelers/labelers-source.ts';
import { artifactNames } from '../../artifact/write.ts';
import { createFactsApp, factsCommonHeaders } from '../../facts/app.ts';
import { archivePrefix, archiveReplies, archiveRoute } from '../../facts/archive/archive-replies.ts';
import { type FactsDocuments, factsDocuments } from '../../facts/documents.ts';
import { type Catalogue, prepareCatalogue } from '../../facts/labelers/catalogue.ts';
import {
  type LabelersPublication,
  type LabelersPublicationOptions,
  labelersPublication,
} from '../../facts/labelers/publication.ts';
import type { AccountLinks } from '../../facts/page/page.tsx';
import { clientAddress } from '../../http/connections/network-tiers.ts';
import { pathOf } from '../../http/read-request.ts';
import { createHttpServer, type FileAnswering } from '../../http/server.ts';
import { httpSchemes } from '../../input/url.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import type { Values } from '../../ops/setting.ts';
import { findIdentityIn } from '../archived-identity.ts';
import { packageRoot } from '../command.ts';
import { basePath, graceMs, listenOn } from '../serve.ts';
import { connectionBounds, operatorUrl, parseSampleAccounts, userAgentFor } from '../shared-settings.ts';
import {
  type ArtifactSettings,
  artifactSources,
  hoursSources,
  httpUrl,
  usableFile,
  usableFolder,
} from './artifact-sources.ts';
import type { FactsMetrics } from './facts-metrics.ts';
import type { factsSettings } from './facts-settings.ts';

/** A listening facts server. */
export interface RunningFacts {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts the facts API of one process. Rejects with OperatorError if a setting is invalid or the server cannot listen.
 */
export async function startFacts(
  settings: Values<typeof factsSettings>,
  log: Log,
  metrics: FactsMetrics | null,
): Promise<RunningFacts> {
  const clock = Date.now;
  const observed = metrics ? { observed: metrics.observed } : {};
  const { labels, weather } = artifactSources(settings, { log, clock, ...observed });
  const hours = hoursSources(settings, clock);
  const bounds = {
    maxAgeSeconds: settings.maxAgeSeconds,
    collectionMaxAgeSeconds: settings.collectionMaxAgeSeconds ?? settings.maxAgeSeconds,
  };
  const alarm = (path: string, error: unknown): void =>
    log.error('a fact could not be projected from its artifact', { path, ...errorFields(error) });
  const labelers = startedLabelers(settings, { log, clock, overview: labels, bounds, alarm });
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
    clock,
    failed: (error) => log.error('a request failed', errorFields(error)),
    connections: connectionBounds(settings),
    ...(metrics ? { onCut: metrics.cut } : {}),
    ...(settings.accessLogClients ? { clientOf: clientAddress(settings.trustProxy) } : {}),
  });
  metrics?.connections(server.connections);
  const sources = [labels, weather, hours.weather, hours.labels, labelers.source, archive];
  await Promise.all(sources.map(async (source) => source?.start()));
  const { host, port } = settings;
  const listening = await listenOn(server, { host, port });
  log.info('listening', { host, port: listening, startedInMs: Math.round(performance.now()) });
  return {
    port: listening,
    async stop() {
      await server.stop(graceMs);
      await Promise.all(sources.map(async (source) => source?.stop()));
      log.info('stopped');
    },
  };
}

/** Creates the source of the labelers artifact and the publication of its documents. */
function startedLabelers(
  settings: Values<typeof factsSettings>,
  context: Pick<LabelersPublicationOptions, 'overview' | 'bounds' | 'alarm'> & { log: Log; clock: () => number },
): { source: LabelersSource<Catalogue>; publication: LabelersPublication } {
  const { log, clock, ...options } = context;
  // Prepare the list after each check of the files, so that no client has to wait for it.
  const polled = (): void => publication.warm(clock());
  const { source, graceMs } = labelersArtifact(settings, { log, clock, polled });
  const publication = labelersPublication({ ...options, labelers: source, graceMs, common: factsCommonHeaders });
  return { source, publication };
}

function documentsOf(settings: Values<typeof factsSettings>, accountUrl: string | null): FactsDocuments {
  const reader = { userAgent: userAgentFor(settings), contact: settings.contact };
  return factsDocuments(join(packageRoot(), 'assets'), factsCommonHeaders, linkBase(settings), reader, accountUrl);
}

function accountLinks({ accountUrl, sampleAccounts }: Values<typeof factsSettings>): AccountLinks | null {
  const url = accountUrl === null ? null : operatorUrl('account-url', accountUrl, { schemes: httpSchemes }).href;
  return url === null ? null : { url: url.replace(/\/+$/, ''), samples: parseSampleAccounts(sampleAccounts) };
}

type ObserveAnswer = (route: string, status: number, client: string | undefined) => void;

/** Returns the summary of the archive for its page, or null if no archive is configured. */
function archiveSummaryOf({ archive, pollSeconds }: Values<typeof factsSettings>, log: Log): ArchiveSummary | null {
  if (archive === null) return null;
  const failed = (error: unknown): void =>
    log.warn('the archive page cannot be updated, because the files of the archive cannot be read', errorFields(error));
  return archiveSummary({ root: archive, pollMs: pollSeconds * 1000, findIdentityIn, failed });
}

/** Returns the server option that serves the archive's files, or no option if no archive is configured. */
function archiveFiles(
  settings: Values<typeof factsSettings>,
  observe: ObserveAnswer | null,
): { readonly files?: FileAnswering } {
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

function answered(settings: Values<typeof factsSettings>, log: Log, metrics: FactsMetrics | null) {
  return (route: string, status: number, client: string | undefined): void => {
    metrics?.answered(route, status);
    if (logsAccess(settings)) log.info('answered', { route, status, ...(client === undefined ? {} : { client }) });
  };
}

function logsAccess({ accessLog, accessLogClients }: Values<typeof factsSettings>): boolean {
  return accessLog || accessLogClients;
}

/** Returns the prefix of links: the public URL if it is configured, otherwise the base path. */
function linkBase({ publicUrl, basePath: path }: Values<typeof factsSettings>): string {
  if (publicUrl === null) return basePath(path);
  operatorUrl('public-url', publicUrl, { schemes: httpSchemes });
  return publicUrl.replace(/\/+$/, '');
}

/** Location of the labelers artifact. */
interface LabelersSettings extends ArtifactSettings {
  readonly labelersArtifact: string | null;
}

/** Interval between two checks of the artifact's files, in milliseconds. */
const filePollMs = 500;
/** Time for which the previous pair of files is still served while newer files are being read, in milliseconds. */
const fileGraceMs = 5_000;
/**
 * Time for which the previous pair is still served, in addition to the poll interval, if the artifact is at a URL, in
 * milliseconds.
 */
const urlGraceMs = 10_000;

/** The source of the labelers artifact, and the maximum time by which the artifact may lag behind the overview. */
interface LabelersWithGrace {
  readonly source: LabelersSource<Catalogue>;
  readonly graceMs: number;
}

/** Dependencies of the source. */
interface SourceContext {
  readonly log: Log;
  readonly clock: () => number;
  /** Called after every attempt to read the artifact. */
  readonly polled: () => void;
}

/**
 * Creates the source of the labelers artifact. Throws OperatorError if its URL is invalid, if its directory does not
 * exist, or if its file cannot be read.
 */
function labelersArtifact(settings: LabelersSettings, { log, clock, polled }: SourceContext): LabelersWithGrace {
  const url = settings.labelersArtifact === null ? null : httpUrl('labelers-artifact', settings.labelersArtifact);
  const pollMs = url === null ? filePollMs : settings.pollSeconds * 1000;
  return {
    source: new LabelersSource({
      readBytes: url === null ? filesOf(settings) : urlsOf(url, settings, clock),
      prepare: () => prepareCatalogue((leak) => log.error('a handle of a labeler is withheld', { leak })),
      pollMs,
      firstReadingMs: 2_000,
      monotonic: () => performance.now(),
      observe: (reading) => logReading(reading, log),
      failed: (error) => log.error('the labelers artifact could not be processed', errorFields(error)),
      polled,
    }),
    graceMs: url === null ? fileGraceMs : pollMs + urlGraceMs,
  };
}

function filesOf(settings: LabelersSettings): ReadLabelerBytes {
  const { labelersArtifact: place } = settings;
  const labelers = place === null ? join(usableFolder(settings), artifactNames.labelers) : usableFile(place);
  return labelerFiles({ labelers, definitions: join(dirname(labelers), artifactNames.labelerDefinitions) });
}

function urlsOf(url: URL, settings: LabelersSettings, clock: () => number): ReadLabelerBytes {
  return labelerUrls({
    urls: { labelers: url, definitions: new URL(artifactNames.labelerDefinitions, url) },
    userAgent: userAgentFor(settings),
    timeoutMs: 30_000,
    graceMs: settings.unreachableSeconds * 1000,
    clock,
  });
}

/**
 * Logs every change of the reading in one line that states the problem with the artifact, never the artifact's content.
 */
function logReading(reading: LabelersReading<Catalogue>, log: Log): void {
  const artifact = 'labelers';
  if (reading.kind === 'readable') {
    const [newest] = reading.sets;
    log.info('the artifact is readable', { artifact, digest: newest?.digest.slice(0, 12) });
    return;
  }
  const { kind, why } = reading;
  const place =
    reading.kind === 'malformed' ? { file: reading.file, line: reading.line, pointer: reading.pointer } : {};
  log.warn('the artifact is refused', { artifact, reading: kind, why, ...place });
}
