import type { ArtifactSource, Reading } from '../artifact/reading.ts';
import type { LabelArtifact, WeatherArtifact } from '../artifact/recognise.ts';
import type { InstrumentEntry, InstrumentIndex } from '../contract/envelope.ts';
import { errorTable } from '../contract/errors.ts';
import { contractIds, paths } from '../contract/identifiers.ts';
import { formatTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import { below, pathOf, type ReadRequest } from '../http/read-request.ts';
import { commonHeaders, errorReply, json, methodNotAllowed, preflight, type Reply } from '../http/reply.ts';
import { chooseCoding } from '../http/representation/negotiation.ts';
import { archivePage, archivePagePath, monthPage } from './archive/archive-page.tsx';
import { monthPath } from './archive/chart.tsx';
import { type ArchivedDays, archiveCharts } from './archive/model.ts';
import type { FactsDocuments } from './documents.ts';
import { type FormatState, formatPaths, formatResources, monthFile } from './formats/formats.ts';
import { type HoursCharts, type HoursSources, hoursCharts } from './hours/shown-hours.ts';
import { type FreshnessBounds, judgeLabels, labelEvidence } from './judge.ts';
import type { LabelersPublication } from './labelers/publication.ts';
import { type AccountLinks, hoursPage, hoursPagePaths, observatoryPage } from './page/page.tsx';
import { cacheControl, conditionalReply } from './representation.ts';
import {
  type FactOutcomes,
  type FactResource,
  labelsResource,
  originOfOutcome,
  refusing,
  weatherResource,
  weatherTime,
} from './resources.ts';
import { markedOrigins } from './shown-facts.ts';

/** Dependencies of the facts application. It uses no store, only artifacts. */
interface FactsAppOptions {
  readonly labels: ArtifactSource<LabelArtifact>;
  readonly weather: ArtifactSource<WeatherArtifact>;
  /** Hours files of both instruments. If absent, the pages state that there are no counts of hours. */
  readonly hours?: HoursSources;
  readonly bounds: FreshnessBounds;
  /** Prefix of every path: an empty string, or `/name` without a trailing slash. */
  readonly basePath: string;
  readonly documents: FactsDocuments;
  /** Documents and pages about labelers. If absent, their paths do not exist. */
  readonly labelers?: LabelersPublication;
  /** Link on the page to the account view. If absent, the page has no such link. */
  readonly accounts?: AccountLinks | null;
  /** Public URL of the service without a trailing slash; used for the preview of the page in social networks. */
  readonly publicUrl?: string | null;
  /** Days of the archive, for the archive page. If absent, that page does not exist. */
  readonly archive?: ArchivedDays;
  /** Called with the error if a fact could not be built. Clients do not receive the error. */
  readonly alarm: (path: string, error: unknown) => void;
  /**
   * Called for every response. `route` is a known path or path pattern, or `other`. `client` is undefined unless the
   * server determines client addresses.
   */
  readonly answered?: (route: string, status: number, client: string | undefined) => void;
}

/** Path of the observatory page, which is outside the contract. */
export const pagePath = '/';

/** Routes of the page of a month of the archive, and of its charts as files. */
export const monthRoutes = [`${monthPath}{month}`, `${monthPath}{month}/{file}`] as const;

/** Paths of the pages and of the formats of facts other than JSON; all of them are outside the contract. */
export const renderedPaths: readonly string[] = [pagePath, ...hoursPagePaths.map(([path]) => path), ...formatPaths];

/** Headers of every response of the facts API. */
export const factsCommonHeaders = commonHeaders('ETag, Last-Modified, Cache-Control, Age, Date');

/** Request headers on which a response may depend. */
type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding' | 'accept'>;

type Route = (conditions: Conditions, now: number) => Reply;

/**
 * Creates the facts application: a function that returns the response to a request. It serves the exact paths of a
 * fixed table, the paths of the labelers, and the documents, and reports every response to `answered`.
 */
export function createFactsApp(options: FactsAppOptions) {
  const { labels, weather, bounds, basePath, documents, answered } = options;
  const common = factsCommonHeaders;
  const notFound = errorReply('not_found', common);
  const notAllowed = methodNotAllowed(common);
  const options204 = preflight(common);
  const health = json(200, { status: 'ok', service: 'almanac-facts' }, ['Cache-Control', 'no-store', ...common]);

  const facts = factResources(options);
  const fact =
    (from: FactResource): Route =>
    (conditions, now) =>
      factReply(conditions, from, now);

  const pages = pagesOf(options, facts);

  function index(_conditions: Conditions, now: number): Reply {
    const body = instrumentIndex(weather.read(), labels.read(), bounds, now);
    return json(200, body, ['Cache-Control', cacheControl, ...common]);
  }

  const routes = new Map<string, Route>([
    [paths.instruments, index],
    [paths.labelsOverview, fact(facts.labels)],
    [paths.weatherConditions, fact(facts.conditions)],
    [paths.weatherMetrics, fact(facts.metrics)],
    ...pages.routes,
    [paths.health, () => health],
  ]);

  function replyTo({ method, target, ...conditions }: ReadRequest, now: number): { route: string; reply: Reply } {
    if (method === 'OPTIONS') return { route: 'other', reply: options204 };
    if (method !== 'GET' && method !== 'HEAD') return { route: 'other', reply: notAllowed };
    const path = below(basePath, pathOf(target));
    if (path === null) return { route: 'other', reply: notFound };
    const route = routes.get(path);
    if (route) return { route: path, reply: route(conditions, now) };
    const archived = pages.archiveReply(path, conditions, now);
    if (archived) return archived;
    const labelersReply = options.labelers?.reply(path, target, conditions, now);
    if (labelersReply) return labelersReply;
    const document = documents.answer(path, chooseCoding(conditions.acceptEncoding), conditions.ifNoneMatch);
    return document ?? { route: 'other', reply: notFound };
  }

  return (request: ReadRequest, now: number): Reply => {
    const { route, reply } = replyTo(request, now);
    answered?.(route, reply.status, request.client);
    return reply;
  };
}

/** Creates the pages that show all facts together, the pictures and formats of the facts, and the pages of the archive. */
function pagesOf(options: FactsAppOptions, facts: ReturnType<typeof factResources>) {
  const { archive, accounts = null, publicUrl = null } = options;
  const drawnHours = hoursCharts(options.hours ?? { weather: null, labels: null });
  const drawn = observatoryPage(factsCommonHeaders, {
    accounts,
    publicUrl,
    archive: archive ?? null,
    hours: drawnHours,
  });
  const outcomes = (now: number): FactOutcomes => ({
    conditions: facts.conditions(now),
    metrics: facts.metrics(now),
    labels: facts.labels(now),
  });
  const chartsOf = archiveCharts(archive ?? null);
  const stateAt = (now: number): FormatState => {
    const current = outcomes(now);
    return { hours: () => drawnHours(current), archive: () => chartsOf(now), outcomes: current };
  };
  const page: Route = ({ acceptEncoding }, now) => drawn(outcomes(now), chooseCoding(acceptEncoding), now);
  return {
    routes: [
      [pagePath, page] as const,
      ...formatRoutes(stateAt),
      ...hoursRoutes(outcomes, { hours: drawnHours, hasArchive: archive !== undefined }),
    ],
    archiveReply: archiveRoutes(archive ?? null, stateAt),
  };
}

type ArchiveRoute = (path: string, conditions: Conditions, now: number) => { route: string; reply: Reply } | null;

/** Routes of the archive's pages and of the charts of its months. The path is below the base path. */
function archiveRoutes(archive: ArchivedDays | null, stateAt: (now: number) => FormatState): ArchiveRoute {
  if (archive === null) return () => null;
  const page = archivePage(factsCommonHeaders, archive);
  const pageOfMonth = monthPage(factsCommonHeaders, archive);
  return (path, { acceptEncoding }, now) => {
    const month = path.startsWith(monthPath) ? path.slice(monthPath.length) : undefined;
    if (month === undefined && path !== archivePagePath) return null;
    const state = stateAt(now);
    if (month?.includes('/')) {
      const reply = monthFile(month, state, factsCommonHeaders, acceptEncoding);
      return reply && { route: monthRoutes[1], reply };
    }
    const { conditions, labels } = state.outcomes;
    const refusal = labels.kind === 'served' ? null : errorTable[labels.code].message;
    const origins = markedOrigins([conditions, labels].flatMap((outcome) => originOfOutcome(outcome) ?? []));
    const coding = chooseCoding(acceptEncoding);
    if (month === undefined) {
      return { route: archivePagePath, reply: page(coding, now, refusal, origins) };
    }
    const reply = pageOfMonth(coding, month, { now, refusal, origins });
    return reply && { route: monthRoutes[0], reply };
  };
}

function hoursRoutes(
  outcomes: (now: number) => FactOutcomes,
  context: { readonly hours: (outcomes: FactOutcomes) => HoursCharts; readonly hasArchive: boolean },
): [string, Route][] {
  return hoursPagePaths.map(([path, length]) => {
    const page = hoursPage(factsCommonHeaders, length, context);
    return [path, ({ acceptEncoding }, now) => page(outcomes(now), chooseCoding(acceptEncoding), now)];
  });
}

function factResources({ labels, weather, bounds, alarm }: FactsAppOptions) {
  const common = factsCommonHeaders;
  const resource = (path: string, made: FactResource): FactResource => refusing(made, (error) => alarm(path, error));
  return {
    labels: resource(paths.labelsOverview, labelsResource(labels, bounds, common)),
    conditions: resource(paths.weatherConditions, weatherResource('weatherConditions', weather, common)),
    metrics: resource(paths.weatherMetrics, weatherResource('weatherMetrics', weather, common)),
  };
}

function formatRoutes(stateAt: (now: number) => FormatState): [string, Route][] {
  return formatResources(factsCommonHeaders).map(([path, resource]) => [
    path,
    (conditions, now) => resource(stateAt(now), conditions, now),
  ]);
}

/**
 * Returns the response of a fact endpoint. A refusal takes precedence over conditional requests, so a request with the
 * validator of an earlier response gets 503, not 304.
 */
function factReply(conditions: Conditions, resource: FactResource, now: number): Reply {
  const outcome = resource(now);
  if (outcome.kind === 'refused') {
    return errorReply(outcome.code, factsCommonHeaders, ['Cache-Control', 'no-store'], outcome.freshness);
  }
  return conditionalReply(outcome.representation, conditions);
}

/**
 * Returns the instrument index: every instrument with the state of its artifact. The index does not state whether a
 * fact can be served.
 */
function instrumentIndex(
  weather: Reading<WeatherArtifact>,
  labels: Reading<LabelArtifact>,
  bounds: FreshnessBounds,
  now: number,
): InstrumentIndex {
  return {
    contract: contractIds.instruments,
    retrieved_at: formatTimestamp(now),
    instruments: [weatherEntry(weather), labelsEntry(labels, bounds, now), drift],
  };
}

const drift: InstrumentEntry = {
  instrument: 'drift',
  state: 'NOT_PUBLISHED',
  generated_at: null,
  endpoints: [],
  note: 'Claim propagation per subject. Not published: its state is deliberately private.',
};

function weatherEntry(reading: Reading<WeatherArtifact>): InstrumentEntry {
  const time = reading.kind === 'readable' ? weatherTime(reading.artifact) : null;
  return {
    instrument: 'weather',
    state: reading.kind === 'readable' ? 'PRESENT' : 'UNAVAILABLE',
    generated_at: time?.kind === 'known' ? time.text : null,
    endpoints: [paths.weatherConditions, paths.weatherMetrics],
    note: 'Aggregate network activity from a streaming-relay vantage: event rates by collection, and the health of the observation itself.',
  };
}

function labelsEntry(reading: Reading<LabelArtifact>, bounds: FreshnessBounds, now: number): InstrumentEntry {
  const readable = reading.kind === 'readable' ? reading.artifact : null;
  const freshness = readable && judgeLabels(labelEvidence(readable), bounds, now).freshness;
  return {
    instrument: 'labels',
    state: readable ? 'PRESENT' : 'UNAVAILABLE',
    generated_at: freshness?.age_seconds == null ? null : usableTimestamp(readable?.overview.generated_at),
    endpoints: [paths.labelsOverview],
    note: 'Observed label application and removal events in a rolling epoch, with acquisition time, source coverage and collection freshness. PRESENT means readable; the overview can still be refused.',
    ...(freshness ? { freshness_state: freshness.state } : {}),
  };
}
