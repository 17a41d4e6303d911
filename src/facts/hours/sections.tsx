import { renderFragment } from '../../web/document.tsx';
import { ChartFigure, Ranges } from './chart-figure.tsx';
import { chartFile, newestHours, type PageChart } from './hours-chart.ts';
import { collectionWords, type HoursCharts, type WeatherCharts } from './shown-hours.ts';

/** Lengths of the charts by hour, in hours. */
export const hourLengths = [24, 72] as const;
export type HourLength = (typeof hourLengths)[number];

/** Place of the sections about the last hours. */
export interface HoursPlace {
  /** Relative URL of the service. */
  readonly base: string;
  readonly length: HourLength;
  /** True if the sections contain tables; false if they link to the page that has them. */
  readonly hasTables: boolean;
  readonly hasArchive: boolean;
}

interface SectionProps<C extends keyof HoursCharts> {
  readonly shown: HoursCharts[C];
  readonly place: HoursPlace;
}

/** Shows the events by hour, with their usual range. Like the section below, it is the content of a `section` element. */
function WeatherHours({ shown, place }: SectionProps<'weather'>) {
  const { base, length, hasArchive } = place;
  return (
    <>
      <h2 id="hours-weather">Events, hour by hour</h2>
      <Ranges base={base} current={`${length} hours`} hasArchive={hasArchive} />
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-weather">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <>
          <HourFigure chart={shown.charts.all} id="hours-weather" place={place} />
          <p>
            <a href={`${base}/hours/72#kinds`}>The same by kind of event</a>
          </p>
        </>
      )}
    </>
  );
}

function HourFigure({
  chart,
  id,
  place,
}: {
  readonly chart: PageChart;
  readonly id: string;
  readonly place: HoursPlace;
}) {
  const { base, length, hasTables } = place;
  return (
    <ChartFigure
      charts={[newestHours(chart, length)]}
      fileOf={({ series }) => `${base}${chartFile(series.id)}`}
      tableAt={hasTables ? null : `${base}/hours/${length}#${id}`}
    />
  );
}

/** Shows a chart of each kind of event in the last 72 hours. Browsers load the images when they come into view. */
function Kinds({ charts: { collections }, base }: { readonly charts: WeatherCharts; readonly base: string }) {
  return (
    <>
      <h2 id="kinds">Events by kind</h2>
      <p>The last 72 hours. Each kind has its own axis. Kinds overlap: replies and quotes are posts too.</p>
      <ul class="chart-kinds">
        {collections.map((name) => {
          const file = `${base}${chartFile(name)}`;
          return (
            <li key={name}>
              <img src={`${file}.svg`} alt={`${collectionWords[name]} per second`} loading="lazy" />
              {collectionWords[name]}: <a href={`${file}.csv`}>CSV</a>, <a href={`${file}.svg`}>SVG</a>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Shows the applications and removals of labels by hour. */
function LabelHours({ shown, place }: SectionProps<'labels'>) {
  return (
    <>
      <h2 id="hours-labels">Labels, hour by hour</h2>
      {shown.kind === 'refused' ? (
        <p data-undrawn="hours-labels">No chart is drawn. {shown.why} Reload this page to try again.</p>
      ) : (
        <HourFigure chart={shown.charts} id="hours-labels" place={place} />
      )}
    </>
  );
}

/** Returns the content of the section about the events of the last hours as HTML. */
export function weatherHoursHtml(shown: HoursCharts['weather'], place: HoursPlace): string {
  return renderFragment(<WeatherHours shown={shown} place={place} />);
}

/** Returns the content of the section about the labels of the last hours as HTML. */
export function labelHoursHtml(shown: HoursCharts['labels'], place: HoursPlace): string {
  return renderFragment(<LabelHours shown={shown} place={place} />);
}

/** Returns the content of the section about the events by kind as HTML; null if there are none. */
export function kindsHtml(shown: HoursCharts['weather'], base: string): string | null {
  if (shown.kind === 'refused' || shown.charts.collections.length === 0) return null;
  return renderFragment(<Kinds charts={shown.charts} base={base} />);
}
