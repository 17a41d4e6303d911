import type { ComponentChildren } from 'preact';
import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import type { TextPart } from '../../web/chart/hole-labels.ts';
import { type Bin, sideOf, type TimeSeries } from '../../web/chart/series.ts';
import { TimeChart } from '../../web/chart/time-chart.tsx';
import { agreeing, countText, instantText, percentText, rateText } from '../../web/format.ts';
import { formatsOf } from '../../web/language.ts';
import { Legend, type Sign } from '../../web/legend.tsx';

/**
 * A chart of a page, with the texts that its picture, its table and its files share. The table and the files are made
 * from `series`, so they contain exactly what is drawn.
 */
export interface PageChart {
  readonly series: TimeSeries;
  readonly title: string;
  /** Unit of the value axis. */
  readonly unit: string;
  /** Answer to the question for which readers open the chart; the text alternative of the picture begins with it. */
  readonly answer: string;
  /** Names of the columns; absent for a column that the chart does not have. */
  readonly columns: {
    readonly value: string;
    readonly below?: string;
    readonly apart?: string;
    readonly usual?: string;
  };
  /**
   * True for a chart of all labelers together: its observed time is the time in which labels were collected, although
   * single labelers may not have been read in it.
   */
  readonly isOfAllLabelers?: true;
}

/** Charts of the archive by name, or null if there is none. They change with `mark`. */
export interface ArchiveCharts {
  readonly mark: object;
  of(name: ArchiveChartName): PageChart;
  /** Returns a chart of the days of a month (`YYYY-MM`); null for a month without days. */
  ofMonth(month: string, kind: 'events' | 'labels'): PageChart | null;
}

/** Names of the charts that are made from the archive. */
export const archiveChartNames = ['month-events', 'month-labels', 'year-events', 'year-labels'] as const;
export type ArchiveChartName = (typeof archiveChartNames)[number];

/** Returns the path of a chart's files without their suffix. */
export function chartFile(name: string): string {
  return `/charts/${name}`;
}

const hourMs = 3_600_000;

/** Returns the chart of the newest hours of a chart. Its answer stays, because it is about the newest hour. */
export function newestHours(chart: PageChart, count: number): PageChart {
  const { series } = chart;
  const bins = series.bins.slice(-count);
  const first = bins[0];
  if (bins.length === series.bins.length || !first) return chart;
  const holes = series.holes
    .filter(({ end }) => end > first.start)
    .map((hole) => ({ ...hole, start: Math.max(hole.start, first.start) }));
  return { ...chart, series: { ...series, id: `${series.id}-${count}h`, bins, holes } };
}

/** Formats the start of an hour or a day. */
function binText({ start, end }: Pick<Bin, 'start' | 'end'>): string {
  const at = microsFromMillis(start);
  const formats = formatsOf('en');
  return end - start > hourMs ? formats.dayTick(at) : `${formats.dayTick(at)} ${formats.clock(at)}`;
}

/** Maximum number of holes that `holesNote` names. */
const maxHoles = 3;

/** Names the longest holes with their reasons; empty if nothing is missing. */
function holesNote({ holes, through }: TimeSeries): string {
  const past = holes.filter(({ start }) => start < through);
  if (past.length === 0) return '';
  const longest = past.toSorted((a, b) => b.end - b.start - (a.end - a.start)).slice(0, maxHoles);
  const named = longest
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, end, reason }) => `${momentText(start)} to ${momentText(Math.min(end, through))} (${reason})`);
  const more = past.length - longest.length;
  return `Not observed: ${named.join('; ')}${more > 0 ? `; and ${countText(more)} more` : ''}.`;
}

function momentText(at: number): string {
  return binText({ start: at, end: at });
}

/** Formats a value of a chart: a rate of a line chart, a count of a bar chart. */
function valueText({ shape }: Pick<TimeSeries, 'shape'>, value: number): string {
  return shape === 'line' ? rateText(value) : countText(value);
}

/** Describes the picture in words: its answer, its period, its extremes and its holes. */
export function summaryOf(chart: PageChart): string {
  const { series, title, answer, columns } = chart;
  const { bins } = series;
  const first = bins[0];
  if (!first) return `${title}. There are no values yet.`;
  const until = new Date(Math.min(series.through, bins.at(-1)?.end ?? series.through)).toISOString();
  return [
    `${title}, ${instantText(new Date(first.start).toISOString())} to ${instantText(until)}.`,
    ...(answer === '' ? [] : [answer]),
    extremes(series, columns.value, ({ value }) => value),
    ...(columns.below === undefined ? [] : [extremes(series, columns.below, ({ below }) => below ?? null)]),
    sidesText(series),
    holesText(chart),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** Counts the hours outside the usual range; empty for a chart without ranges. */
function sidesText({ bins, through }: TimeSeries): string {
  if (!bins.some(({ usual }) => usual)) return '';
  const [above, below] = (['above', 'below'] as const).map(
    (side) => bins.filter((bin) => sideOf(bin, through) === side).length,
  );
  const hours = (n = 0): string => `${countText(n)} ${agreeing(n, 'hour', 'hours')}`;
  return `${hours(above)} busier than usual, ${hours(below)} quieter.`;
}

function extremes(series: TimeSeries, name: string, pick: (bin: Bin) => number | null): string {
  const known = series.bins.flatMap((bin) => pick(bin) ?? []);
  if (known.length === 0) return `${name}: no value is known.`;
  const most = Math.max(...known);
  const at = series.bins.find((bin) => pick(bin) === most);
  const when = at === undefined || most === 0 ? '' : `, highest on ${binText(at)}`;
  return `${name}: ${valueText(series, Math.min(...known))} to ${valueText(series, most)}${when}.`;
}

/** Caveat of the time in which collection of labels ran. */
export const unreadCaveat = 'single labelers may not have been read';

function holesText({ series: { bins, through }, isOfAllLabelers }: PageChart): string {
  const past = bins.filter(({ start }) => start < through);
  const unseen = past.filter(({ observed }) => observed <= 0).length;
  const part = past.filter(({ observed }) => observed > 0 && observed < 1).length;
  const period = (bins[0]?.end ?? 0) - (bins[0]?.start ?? 0) > hourMs ? ['day', 'days'] : ['hour', 'hours'];
  const counted = (n: number): string => `${countText(n)} ${agreeing(n, period[0] ?? '', period[1] ?? '')}`;
  if (unseen + part === 0) {
    return isOfAllLabelers
      ? `Collection ran ${period[0] === 'day' ? 'on' : 'in'} every ${period[0]}; ${unreadCaveat}.`
      : `Every ${period[0]} was observed entirely.`;
  }
  return `${counted(unseen)} not observed, ${counted(part)} observed in part; the line or the bars break there.`;
}

/**
 * Describes how much of an hour or day was observed and why not all of it; empty if all of it was, because most are. An
 * hour that has not ended is described as such.
 */
function observedText({ end, observed, reason }: Bin, through: number): string {
  const share = observed >= 1 ? '' : observed <= 0 ? 'nothing' : percentText(observed);
  const text = reason === null ? share : `${share}: ${reason}`;
  return end > through ? `${text === '' ? 'all' : text}, so far` : text;
}

/**
 * Formats a chart as CSV with LF: one line per hour or day, with the exact values and an empty field for unknown ones.
 * Each line ends with the origin, because a file on its own must not be mistaken for an observation of the live network.
 */
export function chartCsv({ series, columns }: PageChart, origin: Origin | null): string {
  const name = (text: string): string => text.toLowerCase().replaceAll(' ', '_');
  const head = [
    ...['start', 'end', name(columns.value)],
    ...(columns.below === undefined ? [] : [name(columns.below)]),
    ...(columns.apart === undefined ? [] : [name(columns.apart)]),
    ...(columns.usual === undefined ? [] : ['usual_low', 'usual_high']),
    ...['observed_share', 'reason', 'origin'],
  ];
  const lines = series.bins.map((bin) => [
    ...[new Date(bin.start).toISOString(), new Date(bin.end).toISOString(), bin.value],
    ...(columns.below === undefined ? [] : [bin.below]),
    ...(columns.apart === undefined ? [] : [bin.apart]),
    ...(columns.usual === undefined ? [] : [bin.usual?.low, bin.usual?.high]),
    ...[bin.start >= series.through ? null : bin.observed, bin.reason, origin],
  ]);
  return [head, ...lines].map((line) => `${line.map(csvField).join(',')}\n`).join('');
}

function csvField(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Draws a chart of a page or an image, with a mark at its highest value. */
function Plot({ chart, summary }: { readonly chart: PageChart; readonly summary: string }) {
  const { series, unit } = chart;
  return (
    <TimeChart {...{ series, unit, summary }} formats={formatsOf('en')} peakText={(bin) => peakText(chart, bin)} />
  );
}

/**
 * Describes the hour or day with the highest value of a chart. Says that it is the highest observed one if the chart has
 * holes, because a higher one may be in them.
 */
export function peakText({ series }: PageChart, bin: Bin): readonly TextPart[] {
  const hasHole = series.bins.some(({ start, observed }) => start < series.through && observed < 1);
  return [
    { text: series.shape === 'line' ? 'busiest' : 'most', isWide: false },
    ...(hasHole ? [{ text: ' observed', isWide: true }] : []),
    { text: `: ${binText(bin)}`, isWide: false },
  ];
}

/** Content of a figure with charts of the same hours or days. */
interface ChartFigureProps {
  readonly charts: readonly PageChart[];
  /** Returns the relative URL of a chart's files without their suffix. */
  readonly fileOf: (chart: PageChart) => string;
  /** Relative URL of the page with the same data as a table; null if the figure contains the table. */
  readonly tableAt: string | null;
  /** Links that cover the pictures. */
  readonly over?: ComponentChildren;
  /** Text of the caption before the links to the files. */
  readonly children?: ComponentChildren;
}

/**
 * Shows charts, one below the other: their answers, the pictures, a legend, and exactly what is drawn as CSV, as SVG and
 * as a table. The page's script adds a reader of single values, which takes them from the CSV files.
 */
export function ChartFigure({ charts, fileOf, tableAt, over, children }: ChartFigureProps) {
  const [first] = charts;
  if (!first) return null;
  const { id, bins, through } = first.series;
  return (
    <figure class="chart-figure" data-name={id} data-bins={bins.length} data-through={through}>
      {first.answer === '' ? null : <p class="answer">{first.answer}</p>}
      <div class="plots">
        {charts.map((chart) => (
          <Plot key={chart.series.id} chart={chart} summary={summaryOf(chart)} />
        ))}
        {over}
      </div>
      <div class="chart-read" data-own="" />
      <figcaption>
        {children ?? (
          <>
            <Legend signs={signsOf(first)} />
            <p>{holesNote(first.series)}</p>
          </>
        )}
        <p class="chart-files">
          Exactly what is drawn:{' '}
          {charts.map((chart, at) => (
            <Files
              key={chart.series.id}
              name={charts.length > 1 ? chart.columns.value : null}
              file={fileOf(chart)}
              isFirst={at === 0}
            />
          ))}
          {tableAt === null ? null : (
            <>
              , <a href={tableAt}>table</a>
            </>
          )}
        </p>
      </figcaption>
      {tableAt === null ? <ChartTable chart={first} /> : null}
    </figure>
  );
}

function Files({
  name,
  file,
  isFirst,
}: {
  readonly name: string | null;
  readonly file: string;
  readonly isFirst: boolean;
}) {
  return (
    <>
      {isFirst ? '' : '; '}
      {name === null ? '' : `${name.toLowerCase()} as `}
      <a href={`${file}.csv`}>CSV</a>, <a href={`${file}.svg`}>SVG</a>
    </>
  );
}

/** Returns the legend's symbols: only of what the picture contains, and always the strip below the plot. */
export function signsOf({ series, columns, isOfAllLabelers }: PageChart): (readonly [Sign, string])[] {
  const { bins, shape, holes, through } = series;
  const isPart = bins.some(({ start, end, observed }) => start < through && (end > through || observed < 1));
  const hasSide = (side: 'above' | 'below') => bins.some((bin) => sideOf(bin, through) === side);
  return [
    shape === 'line' ? ['line', columns.value.toLowerCase()] : ['up', columns.value.toLowerCase()],
    ...(columns.below === undefined ? [] : [['down', columns.below.toLowerCase()] as const]),
    ...(columns.apart === undefined ? [] : [['apart', columns.apart.toLowerCase()] as const]),
    ...(bins.some(({ usual }) => usual) ? [['usual', 'usual at this time of day'] as const] : []),
    ...(hasSide('above') ? [['above', 'busier than usual'] as const] : []),
    ...(hasSide('below') ? [['below', 'quieter than usual'] as const] : []),
    ...(isPart && shape === 'bars' ? [['faint', `counted in a part of the ${periodName(bins)}`] as const] : []),
    ...(holes.length === 0 ? [] : [['unseen', 'not observed'] as const]),
    ['seen', `strip below: ${isOfAllLabelers ? 'label collection' : 'observed share of the time'}`],
  ];
}

function periodName([first]: readonly Bin[]): string {
  return first !== undefined && first.end - first.start > 3_600_000 ? 'day' : 'hour';
}

const sideWords = { above: ', busier', below: ', quieter', within: '' } as const;

/** Lists the values of a chart, newest first. Time that has not passed yet has no row. */
function ChartTable({ chart: { series, columns, title } }: { readonly chart: PageChart }) {
  const valueCell = (value: number | null | undefined) => (
    <td>{value === null || value === undefined ? '–' : valueText(series, value)}</td>
  );
  return (
    <details open>
      <summary>The same data as a table</summary>
      <div class="scroll">
        <table class="chart-table">
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">UTC</th>
              <th scope="col">{columns.value}</th>
              {columns.below === undefined ? null : <th scope="col">{columns.below}</th>}
              {columns.apart === undefined ? null : <th scope="col">{columns.apart}</th>}
              {columns.usual === undefined ? null : <th scope="col">{columns.usual}</th>}
              <th scope="col">Observed, if not all</th>
            </tr>
          </thead>
          <tbody>
            {series.bins
              .filter(({ start }) => start < series.through)
              .toReversed()
              .map((bin) => (
                <tr key={bin.start}>
                  <th>{binText(bin)}</th>
                  {valueCell(bin.value)}
                  {columns.below === undefined ? null : valueCell(bin.below)}
                  {columns.apart === undefined ? null : valueCell(bin.apart)}
                  {columns.usual === undefined ? null : <td>{usualText(bin, series.through)}</td>}
                  <td>{observedText(bin, series.through)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function usualText(bin: Bin, through: number): string {
  if (!bin.usual) return '–';
  return `${rateText(bin.usual.low)} to ${rateText(bin.usual.high)}${sideWords[sideOf(bin, through) ?? 'within']}`;
}

/** Lengths of the charts, with the pages that show them. */
const ranges = [
  ['24 hours', '/hours/24'],
  ['72 hours', '/hours/72'],
  ['30 days', '/archive#month'],
  ['12 months', '/archive#year'],
] as const;

interface RangesProps {
  readonly base: string;
  /** Name of the length that the page shows already; it is no link. */
  readonly current: (typeof ranges)[number][0] | null;
  readonly hasArchive: boolean;
}

/** Links to the charts of other lengths. */
export function Ranges({ base, current, hasArchive }: RangesProps) {
  return (
    <nav class="ranges" aria-label="Length of the charts">
      {ranges
        .filter(([, path]) => hasArchive || !path.startsWith('/archive'))
        .map(([name, path]) =>
          name === current ? (
            <strong key={name} aria-current="true">
              {name}
            </strong>
          ) : (
            <a key={name} href={`${base}${path}`}>
              {name}
            </a>
          ),
        )}
    </nav>
  );
}
