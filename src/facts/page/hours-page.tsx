import type { HeaderList, Reply } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { originTitles } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { type HourLength, hourLengths, kindsHtml, labelHoursHtml, weatherHoursHtml } from '../hours/sections.tsx';
import type { HoursCharts } from '../hours/shown-hours.ts';
import { htmlReplies } from '../html-replies.ts';
import { type FactOutcomes, keepPerOutcomes, originCaveats } from '../resources.ts';
import { type ObservatoryFacts, originsShown } from './model.ts';

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
