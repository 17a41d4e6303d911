import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Bin } from '../../web/chart/series.ts';
import { TimeChart } from '../../web/chart/time-chart.tsx';
import { renderFragment } from '../../web/document.tsx';
import { rateText } from '../../web/format.ts';
import { formatsOf } from '../../web/language/formats.ts';
import { Legend, type Sign, signText } from '../../web/legend.tsx';
import { chartFile, hoursHeadings, observedText, type PageChart, summaryOf, valueText } from './hours-chart.ts';
import { collectionWords, type HoursCharts, type WeatherCharts } from './shown-hours.ts';

/** Shows the events by hour, with their usual range. Like the section below, it is the content of a `section` element. `base` is the relative URL of the service. */
function WeatherHours({ shown, base }: { readonly shown: HoursCharts['weather']; readonly base: string }) {
  return (
    <>
      <h2 id="hours-weather">{hoursHeadings.weather}</h2>
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-weather">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <>
          <ChartFigure chart={shown.charts.all} files={`${base}${chartFile('events')}`} />
          <Kinds charts={shown.charts} base={base} />
        </>
      )}
    </>
  );
}

/** Shows a chart of each kind on request: browsers load the images of a closed list only when it is opened. */
function Kinds({ charts: { collections }, base }: { readonly charts: WeatherCharts; readonly base: string }) {
  if (collections.length === 0) return null;
  return (
    <details class="chart-kinds">
      <summary>By kind</summary>
      <p>Each kind has its own axis. Kinds overlap: replies and quotes are posts too.</p>
      <ul>
        {collections.map((name) => {
          const file = `${base}${chartFile(name)}`;
          return (
            <li key={name}>
              <img src={`${file}.svg`} alt={`${collectionWords[name]} per second`} loading="lazy" />
              <a href={`${file}.csv`}>CSV</a>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Shows the applications and removals of labels by hour. */
function LabelHours({ shown, base }: { readonly shown: HoursCharts['labels']; readonly base: string }) {
  return (
    <>
      <h2 id="hours-labels">{hoursHeadings.labels}</h2>
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-labels">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <ChartFigure chart={shown.charts} files={`${base}${chartFile('labels')}`} />
      )}
    </>
  );
}

/**
 * Returns the content of the section about the events of the last 72 hours as HTML. `base` is the relative URL of the
 * service.
 */
export function weatherHoursHtml(shown: HoursCharts['weather'], base: string): string {
  return renderFragment(<WeatherHours shown={shown} base={base} />);
}

/** Returns the content of the section about the labels of the last 72 hours as HTML. */
export function labelHoursHtml(shown: HoursCharts['labels'], base: string): string {
  return renderFragment(<LabelHours shown={shown} base={base} />);
}

const english = formatsOf('en');

/** Content of a chart on a page of the facts server. */
interface ChartFigureProps {
  readonly chart: PageChart;
  /** Relative URL of the chart's files without their suffix; null for a chart without files. */
  readonly files: string | null;
}

/**
 * Shows a chart: its answer, the picture, a legend, the same data as a table, and links to it as CSV and SVG. The page's
 * script reads the values that it shows from the table.
 */
function ChartFigure({ chart, files }: ChartFigureProps) {
  const { series, unit, answer } = chart;
  return (
    <figure class="chart-figure" data-name={series.id} data-bins={series.bins.length}>
      {answer === '' ? null : <p class="answer">{answer}</p>}
      <TimeChart series={series} unit={unit} summary={summaryOf(chart)} formats={english} />
      <figcaption>
        <Legend signs={signsOf(chart)} />
        {files === null ? null : (
          <p class="chart-files">
            Exactly what is drawn, as <a href={`${files}.csv`}>CSV</a> and <a href={`${files}.svg`}>SVG</a>.
          </p>
        )}
      </figcaption>
      <ChartTable chart={chart} />
    </figure>
  );
}

/** Returns the legend's symbols: only of what the picture contains, and always the strip below the plot. */
export function signsOf({ series: { bins, shape, holes, through }, columns }: PageChart): (readonly [Sign, string])[] {
  const isPart = bins.some(({ start, end, observed }) => start < through && (end > through || observed < 1));
  return [
    shape === 'line' ? ['line', columns.value.toLowerCase()] : ['up', columns.value.toLowerCase()],
    ...(columns.below === undefined ? [] : [['down', columns.below.toLowerCase()] as const]),
    ...(columns.apart === undefined ? [] : [['apart', columns.apart.toLowerCase()] as const]),
    ...(bins.some(({ usual }) => usual) ? [['usual', 'usual at this time of day'] as const] : []),
    ...(isPart && shape === 'bars' ? [['faint', `counted in a part of the ${periodName(bins)}`] as const] : []),
    ...(holes.length === 0 ? [] : [['unseen', signText.unseen] as const]),
    ['seen', 'strip below: observed share of the time'],
  ];
}

function periodName([first]: readonly Bin[]): string {
  return first !== undefined && first.end - first.start > 3_600_000 ? 'day' : 'hour';
}

/** Lists the values of a chart, newest first. Time that has not passed yet has no row. */
function ChartTable({ chart: { series, columns } }: { readonly chart: PageChart }) {
  const valueCell = (value: number | null | undefined) => (
    <td>{value === null || value === undefined ? '–' : valueText(series, value)}</td>
  );
  return (
    <details>
      <summary>The same data as a table</summary>
      <div class="scroll">
        <table class="chart-table">
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
                  {columns.usual === undefined ? null : (
                    <td>{bin.usual ? `${rateText(bin.usual.low)} to ${rateText(bin.usual.high)}` : '–'}</td>
                  )}
                  <td>{observedText(bin, series.through)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Formats the start of an hour or a day. */
function binText({ start, end }: Pick<Bin, 'start' | 'end'>): string {
  const at = microsFromMillis(start);
  return end - start > 3_600_000 ? english.dayTick(at) : `${english.dayTick(at)} ${english.clock(at)}`;
}
