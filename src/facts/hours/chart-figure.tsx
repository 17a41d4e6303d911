import type { ComponentChildren } from 'preact';
import { type Bin, sideOf } from '../../web/chart/series.ts';
import { TimeChart } from '../../web/chart/time-chart.tsx';
import { rateText } from '../../web/format.ts';
import { formatsOf } from '../../web/language/formats.ts';
import { Legend, type Sign, signText } from '../../web/legend.tsx';
import { binText, holesNote, observedText, type PageChart, summaryOf, valueText } from './hours-chart.ts';

/** Draws a chart of a page or an image, with a mark at its highest value. */
export function Plot({ chart, summary }: { readonly chart: PageChart; readonly summary: string }) {
  const { series, unit } = chart;
  return (
    <TimeChart {...{ series, unit, summary }} formats={formatsOf('en')} peakText={(bin) => peakText(chart, bin)} />
  );
}

/** Describes the hour or day with the highest value of a chart. */
export function peakText({ series }: PageChart, bin: Bin): string {
  return `${series.shape === 'line' ? 'busiest' : 'most'}: ${binText(bin)}`;
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
export function signsOf({ series: { bins, shape, holes, through }, columns }: PageChart): (readonly [Sign, string])[] {
  const isPart = bins.some(({ start, end, observed }) => start < through && (end > through || observed < 1));
  const hasSide = (side: 'above' | 'below') => bins.some((bin) => sideOf(bin) === side);
  return [
    shape === 'line' ? ['line', columns.value.toLowerCase()] : ['up', columns.value.toLowerCase()],
    ...(columns.below === undefined ? [] : [['down', columns.below.toLowerCase()] as const]),
    ...(columns.apart === undefined ? [] : [['apart', columns.apart.toLowerCase()] as const]),
    ...(bins.some(({ usual }) => usual) ? [['usual', 'usual at this time of day'] as const] : []),
    ...(hasSide('above') ? [['above', 'busier than usual'] as const] : []),
    ...(hasSide('below') ? [['below', 'quieter than usual'] as const] : []),
    ...(isPart && shape === 'bars' ? [['faint', `counted in a part of the ${periodName(bins)}`] as const] : []),
    ...(holes.length === 0 ? [] : [['unseen', signText.unseen] as const]),
    ['seen', 'strip below: observed share of the time'],
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
                  {columns.usual === undefined ? null : <td>{usualText(bin)}</td>}
                  <td>{observedText(bin, series.through)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function usualText(bin: Bin): string {
  if (!bin.usual) return '–';
  return `${rateText(bin.usual.low)} to ${rateText(bin.usual.high)}${sideWords[sideOf(bin) ?? 'within']}`;
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
