import type { ErrorCode } from '../../contract/errors.ts';
import { collectionNames, type Origin } from '../../contract/vocabulary.ts';
import { errorReply, type HeaderList, type Reply } from '../../http/reply.ts';
import { type Coding, chooseCoding, codedReplies } from '../../http/representation/negotiation.ts';
import { instantText } from '../../web/format.ts';
import {
  type ArchiveChartName,
  type ArchiveCharts,
  archiveChartNames,
  chartCsv,
  chartFile,
  newestHours,
  type PageChart,
  summaryOf,
} from '../hours/chart-figure.tsx';
import type { HoursCharts, ShownHours } from '../hours/shown-hours.ts';
import { cacheControl } from '../representation.ts';
import type { FactOutcomes } from '../resources.ts';
import { networkNames } from './badge.tsx';
import { chartWidth, innerWidth, left, Plate } from './chart.tsx';
import { chartHeaders, chartStyle, ImageChart, Line, renderImage, svgType } from './image.tsx';

const hourCharts = ['events', 'events-24h', 'labels', 'labels-24h', ...collectionNames] as const;
type HourChartName = (typeof hourCharts)[number];

/** Path of the image of the last 72 hours for other pages. */
export const hoursEmbedPath = '/embed/hours.svg';

/** Names of all charts. Each has the paths `/charts/NAME.svg` and `/charts/NAME.csv`, which are outside the contract. */
export const chartNames: readonly string[] = [...hourCharts, ...archiveChartNames];

/** Data from which the charts are made at one instant. */
export interface ChartState {
  readonly hours: HoursCharts;
  readonly archive: () => ArchiveCharts | null;
  readonly outcomes: FactOutcomes;
}

type Conditions = { readonly acceptEncoding: string | undefined };
type ChartResource = (state: ChartState, conditions: Conditions) => Reply;

type Form = 'svg' | 'csv';

/** Content type of the charts as CSV. */
export const csvType = 'text/csv; charset=utf-8; header=present';

/**
 * Creates the resources of the charts as files. A file is made once per chart and coding, and again only when the chart
 * changes. An image of a refused chart states the refusal and has status 200, like the other images; a refused CSV file
 * is 503. No cache may store either.
 */
export function chartDocuments(common: HeaderList): [string, ChartResource][] {
  const of = (name: HourChartName) => (state: ChartState) => hourChart(state, name);
  return [
    [hoursEmbedPath, kept(common, 'svg', of('events'))],
    ...hourCharts.flatMap((name): [string, ChartResource][] => [
      [`${chartFile(name)}.svg`, kept(common, 'svg', of(name))],
      [`${chartFile(name)}.csv`, kept(common, 'csv', of(name))],
    ]),
    ...archiveChartNames.flatMap((name): [string, ChartResource][] => [
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

function hourChart({ hours, outcomes }: ChartState, name: HourChartName): Found {
  switch (name) {
    case 'labels':
    case 'labels-24h':
      return found(hours.labels, outcomes.labels, (chart) => (name === 'labels' ? chart : newestHours(chart, 24)));
    case 'events':
    case 'events-24h':
      return found(hours.weather, outcomes.conditions, ({ all }) => (name === 'events' ? all : newestHours(all, 24)));
    default:
      return found(hours.weather, outcomes.conditions, (charts) => charts.of(name));
  }
}

function found<C>(shown: ShownHours<C>, outcome: FactOutcomes['labels'], chartOf: (charts: C) => PageChart): Found {
  const origin = originOf(outcome);
  if (shown.kind === 'drawn') return { mark: shown, origin, make: () => chartOf(shown.charts) };
  const code = outcome.kind === 'refused' ? outcome.code : 'asset_unavailable';
  return { mark: shown, origin, why: shown.why, code };
}

function archiveChart(state: ChartState, name: ArchiveChartName): Found {
  return archived(state, name.endsWith('labels'), (charts) => charts.of(name));
}

function archived(
  { archive, outcomes }: ChartState,
  isLabels: boolean,
  chartOf: (charts: ArchiveCharts) => PageChart,
): Found {
  const [outcome, other] = isLabels ? [outcomes.labels, outcomes.conditions] : [outcomes.conditions, outcomes.labels];
  const origin = originOf(outcome) ?? originOf(other);
  if (isLabels && outcome.kind === 'refused') {
    return { mark: outcome.code, origin, why: 'The label overview is refused.', code: outcome.code };
  }
  const charts = archive();
  if (charts === null) return { mark: null, origin, why: 'There is no archive.', code: 'asset_unavailable' };
  return { mark: charts.mark, origin, make: () => chartOf(charts) };
}

function originOf(outcome: FactOutcomes['labels']): Origin | null {
  if (outcome.kind === 'refused') return outcome.origin ?? null;
  return outcome.representation.envelope.provenance.origin ?? 'live';
}

interface KeptFile {
  readonly mark: unknown;
  readonly origin: Origin | null;
  readonly replies: (coding: Coding) => Reply;
}

function kept(common: HeaderList, form: Form, find: (state: ChartState) => Found): ChartResource {
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
 * such file. It is made on each request, because there are many of these files and each is rarely requested.
 */
export function monthFile(path: string, state: ChartState, common: HeaderList, acceptEncoding: string | undefined) {
  const [, month = '', kind, suffix] = /^(\d{4}-\d\d)\/(events|labels)\.(csv|svg)$/.exec(path) ?? [];
  const isLabels = kind === 'labels';
  const form = suffix === 'csv' ? 'csv' : 'svg';
  const own = kind === undefined ? null : (state.archive()?.ofMonth(month, isLabels ? 'labels' : 'events') ?? null);
  if (own === null) return null;
  const chart = archived(state, isLabels, () => own);
  if ('why' in chart && form === 'csv') return errorReply(chart.code, common, ['Cache-Control', 'no-store']);
  return fileReplies(common, form, chart)(chooseCoding(acceptEncoding));
}

function bodyOf(chart: Found, form: Form): string {
  if ('why' in chart) return refusedImage('counts by time', chart.origin, chart.why);
  return form === 'svg' ? chartImage(chart.make(), chart.origin) : chartCsv(chart.make(), chart.origin);
}

/** Vertical position of a chart in its image. */
const chartTop = 54;
/** Height of the image of a chart, in units of the drawing. */
const chartImageHeight = 240;

/** Renders a chart as an SVG document, with the same shapes as on the page. `about` precedes its description. */
export function chartImage(chart: PageChart, origin: Origin | null, about = ''): string {
  const { series, title } = chart;
  const until = new Date(Math.min(series.through, series.bins.at(-1)?.end ?? series.through)).toISOString();
  const notes = [`until ${instantText(until)}`, ...(series.holes.length === 0 ? [] : ['hatched: not observed'])];
  return frame(title, origin, {
    description: about + summaryOf(chart),
    children: (
      <>
        <ImageChart chart={chart} x={left} y={chartTop} width={innerWidth} />
        <Line x={left} y={chartImageHeight - 10} paint="soft">
          {`${notes.join('; ')}; strip: observed share of the time`}
        </Line>
      </>
    ),
  });
}

/** Renders an image that states why the chart is not drawn. */
function refusedImage(title: string, origin: Origin | null, why: string): string {
  return frame(title, origin, {
    description: `No chart is drawn. ${why}`,
    children: (
      <>
        <Plate text="No chart is drawn: the counts are refused or absent" paint="refused" y={50} height={150} />
        <Line x={left} y={224} paint="soft">
          The page of the observatory states the reason.
        </Line>
      </>
    ),
  });
}

function frame(
  title: string,
  known: Origin | null,
  { description, children }: { readonly description: string; readonly children: preact.ComponentChildren },
): string {
  const origin = known ?? 'live';
  const name = `${networkNames[origin]}: ${title}`;
  return renderImage({
    width: chartWidth,
    height: chartImageHeight,
    title: name,
    description,
    style: chartStyle,
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={chartWidth - 1} height={chartImageHeight - 1} rx="4" />
        <rect class={origin === 'live' ? 'head' : 'mark'} x="1" y="1" width={chartWidth - 2} height="29" />
        <Line x={left} y={20} size={13} paint={origin === 'live' ? 'on-head' : 'on-mark'} isStrong>
          {name}
        </Line>
        {children}
      </>
    ),
  });
}
