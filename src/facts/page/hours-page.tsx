import type { HeaderList, Reply } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderFragment, renderPage } from '../../web/document.tsx';
import { originTitles } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { originCaveats } from '../caveats.ts';
import { ChartFigure, chartFile, newestHours, type PageChart, Ranges } from '../hours/chart-figure.tsx';
import { collectionWords, type HoursCharts, type WeatherCharts } from '../hours/shown-hours.ts';

import { htmlReplies } from '../representation.ts';
import { type FactOutcomes, keepPerOutcomes } from '../resources.ts';
import { type ObservatoryFacts, originsShown } from './model.ts';

/** Lengths of the charts by hour, in hours. */
const hourLengths = [24, 72] as const;
type HourLength = (typeof hourLengths)[number];

/** Paths of the pages with the charts and tables of the last hours, by their length. */
export const hoursPagePaths: readonly (readonly [string, HourLength])[] = hourLengths.map((length) => [
  `/hours/${length}`,
  length,
]);

/** Creates the resource of the page with the charts of the last hours and their tables. */
export function hoursPage(
  common: HeaderList,
  length: HourLength,
  { hours, hasArchive }: { readonly hours: (outcomes: FactOutcomes) => HoursCharts; readonly hasArchive: boolean },
) {
  const pageAt = keepPerOutcomes(
    (facts, outcomes) => htmlReplies(renderPage(hoursParts(facts, hours(outcomes), { length, hasArchive })), common),
    (_now, outcomes) => Object.values(hours(outcomes)),
  );
  return (outcomes: FactOutcomes, coding: Coding, now: number): Reply => pageAt(outcomes, now)(coding);
}

function hoursParts(
  facts: ObservatoryFacts,
  { weather, labels }: HoursCharts,
  { length, hasArchive }: { readonly length: HourLength; readonly hasArchive: boolean },
): PageParts {
  const origins = originsShown(facts);
  const base = '..';
  const place = { base, length, hasTables: true, hasArchive };
  const sections = [
    ['hours-weather', weatherHoursHtml(weather, place)],
    ['hours-labels', labelHoursHtml(labels, place)],
    ['kinds', length === 72 ? kindsHtml(weather, base) : null],
  ] as const;
  return {
    title: [...origins.map((origin) => originTitles[origin]), `The last ${length} hours, hour by hour`].join(''),
    description: `Events and labels of the AT Protocol network in the last ${length} hours, with the time that was not observed.`,
    base,
    // Exclude simulated data from search engines, which could present it as live.
    indexed: origins.length === 0,
    scripts: ['/assets/charts.js'],
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: `${base}/labelers`, text: 'Labelers' },
      ...(hasArchive ? [{ href: `${base}/archive`, text: 'Archive' }] : []),
      { href: `${base}/docs`, text: 'API' },
      { href: `${base}/method/weather`, text: 'Method' },
    ],
    ...(origins.length === 0 ? {} : { banner: origins.map((origin) => originCaveats[origin]).join(' ') }),
    children: (
      <>
        <h1>The last {length} hours, hour by hour</h1>
        <p>
          Counts of what was observed, never an estimate of what happened. All times are in UTC.{' '}
          <a href={`${base}/method/weather`}>How this is measured</a>
        </p>
        {sections.map(([id, html]) =>
          html === null ? null : <section key={id} aria-labelledby={id} dangerouslySetInnerHTML={{ __html: html }} />,
        )}
      </>
    ),
  };
}

/** Place of the sections about the last hours. */
interface HoursPlace {
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
function kindsHtml(shown: HoursCharts['weather'], base: string): string | null {
  if (shown.kind === 'refused' || shown.charts.collections.length === 0) return null;
  return renderFragment(<Kinds charts={shown.charts} base={base} />);
}
