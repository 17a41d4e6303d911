import { type ComponentChildren, h } from 'preact';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { HeaderList, Reply } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderPage, renderPart } from '../../web/document.tsx';
import type { PageParts } from '../../web/page-body.tsx';
import { type SampleAccount, SampleAccounts } from '../../web/sample-accounts.tsx';
import { recentHtml } from '../archive/chart.tsx';
import { type ArchivedDays, hourStart } from '../archive/model.ts';
import { ChartFigure, chartFile, newestHours, type PageChart, Ranges } from '../hours/chart-figure.tsx';
import { collectionWords, type HoursCharts, type WeatherCharts } from '../hours/shown-hours.ts';

import { htmlReplies } from '../representation.ts';
import { type FactOutcomes, keepPerOutcomes, oncePer } from '../resources.ts';

import { markedParts, type ObservatoryFacts, originsShown } from '../shown-facts.ts';
import { observatory } from './observatory.tsx';

/** Data of the page that does not come from the facts. */
interface PageContext {
  readonly accounts: AccountLinks | null;
  readonly publicUrl: string | null;
  /** Days of the archive; null without an archive. */
  readonly archive: ArchivedDays | null;
  /** Returns the charts of the hours files. */
  readonly hours: (outcomes: FactOutcomes) => HoursCharts;
}

const minuteMs = 60_000;

/**
 * Creates the resource of the observatory page. The page is rendered again when a fact or the archive changes, and every
 * minute.
 */
export function observatoryPage(common: HeaderList, { accounts, publicUrl, archive, hours }: PageContext) {
  const hoursSections = hoursSectionsOf(archive !== null);
  const archiveSection = archiveSectionOf(archive);
  const archived = () => archive?.days() ?? null;
  const pageAt = keepPerOutcomes(
    (facts, outcomes, now) => {
      const refusal = facts.labels.kind === 'refused' ? facts.labels.error.message : null;
      const page = observatory(facts, formatTimestamp(now), {
        ...hoursSections(hours(outcomes)),
        archive: archiveSection(now, refusal),
        accounts: h(Accounts, { links: accounts }),
      });
      const parts = publicUrl !== null && page.indexed ? { ...page, card: cardOf(publicUrl) } : page;
      return htmlReplies(renderPage(parts), common);
    },
    (now, outcomes) => {
      const days = archived();
      const { weather, labels } = hours(outcomes);
      // The page states when it was built, so that its script recognises a copy that a cache repeats.
      return [weather, labels, Math.floor(now / minuteMs), ...(days === null ? [null] : [days, hourStart(now)])];
    },
  );

  return (outcomes: FactOutcomes, coding: Coding, now: number): Reply => pageAt(outcomes, now)(coding);
}

/** Creates the sections about the last 72 hours. Each is rendered once per artifact and refusal. */
function hoursSectionsOf(hasArchive: boolean) {
  const place = { base: '.', length: 72, hasTables: false, hasArchive } as const;
  const weatherHtml = oncePer((shown: HoursCharts['weather']) => weatherHoursHtml(shown, place));
  const labelsHtml = oncePer((shown: HoursCharts['labels']) => labelHoursHtml(shown, place));
  return ({ weather, labels }: HoursCharts) => ({
    weatherHours: sectionOf('hours-weather', weatherHtml(weather)),
    labelHours: sectionOf('hours-labels', labelsHtml(labels)),
  });
}

/**
 * Creates the section about the archive; null without an archive. It is rendered once per list of days, hour and refusal
 * of the label overview, like the files of its charts.
 */
function archiveSectionOf(archive: ArchivedDays | null) {
  let kept: { readonly marks: readonly unknown[]; readonly section: ComponentChildren } | undefined;
  return (now: number, refusal: string | null): ComponentChildren => {
    const hour = hourStart(now);
    const marks = [archive?.days() ?? null, hour, refusal];
    if (kept?.marks.every((mark, at) => mark === marks[at])) return kept.section;
    const html = archive && recentHtml(archive, hour, refusal);
    const section = html === null ? null : sectionOf('archive', html);
    kept = { marks, section };
    return section;
  };
}

function sectionOf(id: string, html: string) {
  return h('section', { 'aria-labelledby': id, dangerouslySetInnerHTML: { __html: html } });
}

/**
 * Returns the preview of the page for messengers and social networks. Its image has no numbers, because these services
 * cache it for weeks and would show an old number as current.
 */
function cardOf(publicUrl: string): NonNullable<PageParts['card']> {
  return {
    url: `${publicUrl}/`,
    image: `${publicUrl}/assets/card.png`,
    imageText: 'Almanac: observations of the AT Protocol network, with their limits',
    width: 1200,
    height: 630,
  };
}

/** Links to the account view, which has its own address. */
export interface AccountLinks {
  /** URL of the account view, without a trailing slash. */
  readonly url: string;
  readonly samples: readonly SampleAccount[];
}

/** Shows the link to the account view and to its sample accounts. Shows nothing if there is no account view. */
function Accounts({ links }: { links: AccountLinks | null }) {
  if (!links) return null;
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">One account</h2>
      <p>
        Nothing on this page is about a single account. The labels observed on one account are available on request at{' '}
        <a href={`${links.url}/`}>another address</a>.
      </p>
      {links.samples.length === 0 ? null : <SampleAccounts samples={links.samples} base={links.url} />}
    </section>
  );
}

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
  const base = '..';
  const place = { base, length, hasTables: true, hasArchive };
  const sections = [
    ['hours-weather', weatherHoursHtml(weather, place)],
    ['hours-labels', labelHoursHtml(labels, place)],
    ['kinds', length === 72 ? kindsHtml(weather, base) : null],
  ] as const;
  return {
    ...markedParts(originsShown(facts), `The last ${length} hours, hour by hour`),
    description: `Events and labels of the AT Protocol network in the last ${length} hours, with the time that was not observed.`,
    base,
    scripts: ['/assets/charts.js'],
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: `${base}/labelers`, text: 'Labelers' },
      ...(hasArchive ? [{ href: `${base}/archive`, text: 'Archive' }] : []),
      { href: `${base}/docs`, text: 'API' },
      { href: `${base}/method/weather`, text: 'Method' },
    ],
    children: (
      <>
        <h1>The last {length} hours, hour by hour</h1>
        <p>
          Counts of what was observed, never an estimate of what happened. All times are in UTC.{' '}
          <a href={`${base}/method/weather`}>How this is measured</a>
        </p>
        {sections.map(([id, html]) => html && sectionOf(id, html))}
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
function weatherHoursHtml(shown: HoursCharts['weather'], place: HoursPlace): string {
  return renderPart(<WeatherHours shown={shown} place={place} />);
}

/** Returns the content of the section about the labels of the last hours as HTML. */
function labelHoursHtml(shown: HoursCharts['labels'], place: HoursPlace): string {
  return renderPart(<LabelHours shown={shown} place={place} />);
}

/** Returns the content of the section about the events by kind as HTML; null if there are none. */
function kindsHtml(shown: HoursCharts['weather'], base: string): string | null {
  if (shown.kind === 'refused' || shown.charts.collections.length === 0) return null;
  return renderPart(<Kinds charts={shown.charts} base={base} />);
}
