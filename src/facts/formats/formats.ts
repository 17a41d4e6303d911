import Negotiator from 'negotiator';
import type { ErrorCode } from '../../contract/errors.ts';
import { collectionNames, type Origin } from '../../contract/vocabulary.ts';
import type { ReadRequest } from '../../http/read-request.ts';
import { errorReply, type HeaderList, type Reply } from '../../http/reply.ts';
import { type Coding, chooseCoding, codedReplies, matchesEntityTag } from '../../http/representation/negotiation.ts';
import { conditionsBadge, labelsBadge } from '../embeds/badge.tsx';
import { observatoryChart } from '../embeds/chart.tsx';
import { chartImage, refusedImage } from '../embeds/chart-image.tsx';
import { chartHeaders, embedHeaders, svgType } from '../embeds/image.tsx';
import {
  type ArchiveChartName,
  type ArchiveCharts,
  archiveChartNames,
  chartCsv,
  chartFile,
  newestHours,
  type PageChart,
} from '../hours/chart-figure.tsx';
import type { HoursCharts, ShownHours } from '../hours/shown-hours.ts';
import { factMetrics } from '../metrics/fact-metrics.ts';
import { cacheControl, entityTag } from '../representation.ts';
import { type FactOutcomes, keepPerOutcomes, originOfOutcome } from '../resources.ts';
import type { ObservatoryFacts } from '../shown-facts.ts';

const all: readonly FactName[] = ['conditions', 'metrics', 'labels'];

function image(path: string, uses: readonly FactName[], render: (facts: ObservatoryFacts) => string): FactFormat {
  return { path, uses, representations: [{ contentType: svgType, render }], headers: embedHeaders };
}

/** Formats of the facts other than JSON and the page. */
const factFormats: readonly FactFormat[] = [
  { ...factMetrics, uses: all, headers: [] },
  image('/embed/conditions.svg', ['conditions'], conditionsBadge),
  image('/embed/labels.svg', ['labels'], labelsBadge),
  image('/embed/observatory.svg', all, observatoryChart),
];

/** Returns a document made from the state at `now`, in milliseconds since 1970. */
type FormatResource = (state: FormatState, conditions: Conditions, now: number) => Reply;

/**
 * Creates the resources of the formats of the facts other than JSON and the page, and of the charts as files, by their
 * paths. All of them are outside the contract.
 */
export function formatResources(common: HeaderList): [string, FormatResource][] {
  return [
    ...factFormats.map((format): [string, FormatResource] => {
      const rendered = renderedFacts(format, common);
      return [format.path, ({ outcomes }, conditions, now) => rendered(outcomes, conditions, now)];
    }),
    ...chartDocuments(common),
  ];
}

/** Name of one of the three facts. */
type FactName = keyof FactOutcomes;

/** A document in one media type. */
interface Rendering {
  readonly contentType: string;
  readonly render: (facts: ObservatoryFacts) => string;
}

/** A format of the facts other than JSON and the page. */
interface FactFormat {
  /** Path of the document. It is part of the validator, so that validators of different documents differ. */
  readonly path: string;
  /** Facts that the document shows. */
  readonly uses: readonly FactName[];
  /** The document in each media type; a client that states no preference gets the first one. */
  readonly representations: readonly [Rendering, ...Rendering[]];
  readonly headers: HeaderList;
}

type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding' | 'accept'>;

/**
 * Creates the resource of a format, which is cacheable like the facts. A document that shows a refusal has status 200,
 * but no cache may store it and it has no validator, so that it is replaced as soon as the fact is served again.
 * `common` are the headers that every response of the facts API has.
 */
function renderedFacts(format: FactFormat, common: HeaderList) {
  const { representations } = format;
  const varies = representations.length > 1 ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
  const headers = ['Vary', varies, ...format.headers, ...common];
  const [first, ...others] = representations;
  const standard = renderedAs(format, first, headers);
  const alternatives = new Map(others.map((one) => [one.contentType, renderedAs(format, one, headers)]));
  const types = representations.map(({ contentType }) => contentType);

  return (outcomes: FactOutcomes, conditions: Conditions, now: number): Reply => {
    const chosen = alternatives.size > 0 ? alternatives.get(preferredType(conditions.accept, types)) : undefined;
    return (chosen ?? standard)(outcomes, conditions, now);
  };
}

/** Maximum length of a parsed `Accept` header, in characters. A longer header states no preference. */
const longestAccept = 1024;

/** Returns the type that an `Accept` header prefers (RFC 9110, section 12.5.1), or an empty string if it prefers none. */
function preferredType(accept: string | undefined, types: readonly string[]): string {
  if (accept === undefined || accept.length > longestAccept) return '';
  return new Negotiator({ headers: { accept } }).mediaType([...types]) ?? '';
}

function renderedAs({ path, uses }: FactFormat, { contentType, render }: Rendering, always: HeaderList) {
  const documentAt = keepPerOutcomes((facts, outcomes) => {
    const tags = uses.map((name) => {
      const outcome = outcomes[name];
      return outcome.kind === 'served' ? outcome.representation.etag : null;
    });
    const etag = tags.includes(null) ? null : entityTag(`${path} ${contentType}`, tags.join(' '), 0);
    const validators = etag === null ? ['Cache-Control', 'no-store'] : ['ETag', etag, 'Cache-Control', cacheControl];
    const headers = [...validators, ...always];
    return { etag, headers, ok: codedReplies({ contentType, body: Buffer.from(render(facts)), headers }) };
  });

  return (outcomes: FactOutcomes, { ifNoneMatch, acceptEncoding }: Conditions, now: number): Reply => {
    const { etag, headers, ok } = documentAt(outcomes, now);
    if (etag !== null && matchesEntityTag(ifNoneMatch, etag)) return { status: 304, headers, body: null };
    return ok(chooseCoding(acceptEncoding));
  };
}

const hourCharts = ['events', 'events-24h', 'labels', 'labels-24h', ...collectionNames] as const;
type HourChartName = (typeof hourCharts)[number];

/** Path of the image of the last 72 hours for other pages. */
const hoursEmbedPath = '/embed/hours.svg';

/** Paths of the formats of the facts and of that image. */
export const formatPaths: readonly string[] = [...factFormats.map(({ path }) => path), hoursEmbedPath];

/** Names of all charts. Each has the paths `/charts/NAME.svg` and `/charts/NAME.csv`, which are outside the contract. */
export const chartNames: readonly string[] = [...hourCharts, ...archiveChartNames];

/** Data from which the documents are made at one instant. */
export interface FormatState {
  readonly hours: () => HoursCharts;
  readonly archive: () => ArchiveCharts | null;
  readonly outcomes: FactOutcomes;
}

type Form = 'svg' | 'csv';

/** Content type of the charts as CSV. */
export const csvType = 'text/csv; charset=utf-8; header=present';

/**
 * Creates the resources of the charts as files. A file is made once per chart and coding, and again only when the chart
 * changes. An image of a refused chart states the refusal and has status 200, like the other images; a refused CSV file
 * is 503. No cache may store either.
 */
function chartDocuments(common: HeaderList): [string, FormatResource][] {
  const of = (name: HourChartName) => (state: FormatState) => hourChart(state, name);
  return [
    [hoursEmbedPath, kept(common, 'svg', of('events'))],
    ...hourCharts.flatMap((name): [string, FormatResource][] => [
      [`${chartFile(name)}.svg`, kept(common, 'svg', of(name))],
      [`${chartFile(name)}.csv`, kept(common, 'csv', of(name))],
    ]),
    ...archiveChartNames.flatMap((name): [string, FormatResource][] => [
      [`${chartFile(name)}.svg`, kept(common, 'svg', (state) => archiveChart(state, name))],
      [`${chartFile(name)}.csv`, kept(common, 'csv', (state) => archiveChart(state, name))],
    ]),
  ];
}

/**
 * A chart to be written to a file, with the object whose identity changes when the chart changes. The origin is null if it
 * is not known.
 */
type Found =
  | { readonly mark: unknown; readonly origin: Origin | null; readonly make: () => PageChart }
  | { readonly mark: unknown; readonly origin: Origin | null; readonly why: string; readonly code: ErrorCode };

function hourChart({ hours, outcomes }: FormatState, name: HourChartName): Found {
  const { labels, weather } = hours();
  switch (name) {
    case 'labels':
    case 'labels-24h':
      return found(labels, outcomes.labels, (chart) => (name === 'labels' ? chart : newestHours(chart, 24)));
    case 'events':
    case 'events-24h':
      return found(weather, outcomes.conditions, ({ all }) => (name === 'events' ? all : newestHours(all, 24)));
    default:
      return found(weather, outcomes.conditions, (charts) => charts.of(name));
  }
}

function found<C>(shown: ShownHours<C>, outcome: FactOutcomes['labels'], chartOf: (charts: C) => PageChart): Found {
  const origin = originOfOutcome(outcome);
  if (shown.kind === 'drawn') return { mark: shown, origin, make: () => chartOf(shown.charts) };
  const code = outcome.kind === 'refused' ? outcome.code : 'asset_unavailable';
  return { mark: shown, origin, why: shown.why, code };
}

function archiveChart(state: FormatState, name: ArchiveChartName): Found {
  const charts = state.archive();
  return archived(state, name.endsWith('labels'), charts && { mark: charts.mark, make: () => charts.of(name) });
}

/** Finds a chart of the archive, which is null while the archive cannot be read. */
function archived(
  { outcomes }: FormatState,
  isLabels: boolean,
  chart: { readonly mark: object; readonly make: () => PageChart } | null,
): Found {
  const [outcome, other] = isLabels ? [outcomes.labels, outcomes.conditions] : [outcomes.conditions, outcomes.labels];
  const origin = originOfOutcome(outcome) ?? originOfOutcome(other);
  if (isLabels && outcome.kind === 'refused') {
    return { mark: outcome.code, origin, why: 'The label overview is refused.', code: outcome.code };
  }
  if (chart === null) return { mark: null, origin, why: 'There is no archive.', code: 'asset_unavailable' };
  return { ...chart, origin };
}

interface KeptFile {
  readonly mark: unknown;
  readonly origin: Origin | null;
  readonly replies: (coding: Coding) => Reply;
}

function kept(common: HeaderList, form: Form, find: (state: FormatState) => Found): FormatResource {
  let known: KeptFile | null = null;
  return (state, { acceptEncoding }) => {
    const chart = find(state);
    const { mark, origin } = chart;
    if ('why' in chart && form === 'csv') return errorReply(chart.code, common, ['Cache-Control', 'no-store']);
    if (known === null || known.mark !== mark || known.origin !== origin) {
      known = { mark, origin, replies: fileReplies(common, form, chart) };
    }
    return known.replies(chooseCoding(acceptEncoding));
  };
}

function fileReplies(common: HeaderList, form: Form, chart: Found): (coding: Coding) => Reply {
  const headers = [
    ...['Cache-Control', 'why' in chart ? 'no-store' : cacheControl, 'Vary', 'Accept-Encoding'],
    ...(form === 'svg' ? chartHeaders : []),
    ...common,
  ];
  const contentType = form === 'svg' ? svgType : csvType;
  return codedReplies({ contentType, body: Buffer.from(bodyOf(chart, form)), headers });
}

/**
 * Returns the response to a request for a file with a chart of a month, such as `2026-11/events.csv`; null if there is no
 * such file. While the archive cannot be read, the file of every month is refused. It is made on each request, because
 * there are many of these files and each is rarely requested.
 */
export function monthFile(path: string, state: FormatState, common: HeaderList, acceptEncoding: string | undefined) {
  const [, month, kind, suffix] = /^(\d{4}-\d\d)\/(events|labels)\.(csv|svg)$/.exec(path) ?? [];
  if (month === undefined) return null;
  const isLabels = kind === 'labels';
  const form = suffix === 'csv' ? 'csv' : 'svg';
  // Undefined while the archive cannot be read.
  const own = state.archive()?.ofMonth(month, isLabels ? 'labels' : 'events');
  if (own === null) return null;
  const chart = archived(state, isLabels, own ? { mark: own, make: () => own } : null);
  if ('why' in chart && form === 'csv') return errorReply(chart.code, common, ['Cache-Control', 'no-store']);
  return fileReplies(common, form, chart)(chooseCoding(acceptEncoding));
}

function bodyOf(chart: Found, form: Form): string {
  if ('why' in chart) return refusedImage('counts by time', chart.origin, chart.why);
  return form === 'svg' ? chartImage(chart.make(), chart.origin) : chartCsv(chart.make(), chart.origin);
}
