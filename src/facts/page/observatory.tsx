import type { ComponentChildren } from 'preact';
import { originTitles } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { originCaveats } from '../resources.ts';
import { Freshness, labelStatus, weatherStatus } from './freshness.tsx';
import { Labels } from './labels.tsx';
import { type ObservatoryFacts, originsShown, type Shown } from './model.ts';
import { Quote } from './pieces.tsx';
import { WeatherNow } from './weather-now.tsx';
import { WeatherRates } from './weather-rates.tsx';

/** Sections that do not show facts. */
export interface OtherSections {
  /** Events of the last 72 hours. */
  readonly weatherHours: ComponentChildren;
  /** Labels of the last 72 hours. */
  readonly labelHours: ComponentChildren;
  /** The archive; null if the page has no section about it. */
  readonly archive: ComponentChildren | null;
  readonly accounts: ComponentChildren;
}

/**
 * Renders the observatory page from the three facts. `builtAt` is the time at which it is rendered, as a timestamp. Links
 * are relative, so that the page works under any path prefix.
 */
export function observatory(facts: ObservatoryFacts, builtAt: string, others: OtherSections): PageParts {
  const origins = originsShown(facts);
  return {
    title: [
      ...origins.map((origin) => originTitles[origin]),
      'Almanac: weather and labelers of the AT Protocol network',
    ].join(''),
    description: 'Observations of the AT Protocol network, with their limits.',
    base: '.',
    // Exclude simulated data from search engines, which could present it as live.
    indexed: origins.length === 0,
    scripts: ['/assets/observatory.js'],
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: './labelers', text: 'Labelers' },
      ...(others.archive === null ? [] : [{ href: './archive', text: 'Archive' }]),
      { href: './docs', text: 'API' },
      { href: './method/weather', text: 'Method' },
      { href: './openapi.json', text: 'OpenAPI' },
      { href: './policy', text: 'Policy' },
      { href: './for-labelers', text: 'For labelers' },
      { href: './embeds', text: 'Images' },
      { href: './llms.txt', text: 'llms.txt' },
    ],
    ...(origins.length === 0 ? {} : { banner: origins.map((origin) => originCaveats[origin]).join(' ') }),
    children: <Body facts={facts} builtAt={builtAt} others={others} />,
  };
}

function Body({ facts, builtAt, others }: { facts: ObservatoryFacts; builtAt: string; others: OtherSections }) {
  return (
    <>
      <div class="intro" data-built={builtAt}>
        <h1>Observations of the AT Protocol network</h1>
        <p>
          Almanac observes the network that Bluesky runs on, and reports what it observed, how complete the observation
          was, and what it cannot know.
        </p>
        <StatusSection facts={facts} />
      </div>
      <WeatherNow fact={facts.conditions} />
      {others.weatherHours}
      <WeatherRates fact={facts.metrics} />
      <Labels fact={facts.labels} />
      {others.labelHours}
      {others.archive}
      {others.accounts}
      <Freshness facts={facts} />
      <Caveats facts={facts} />
      <Json />
    </>
  );
}

/** Shows the status of each instrument. The page's script replaces the sentence about updates, and announces changes. */
function StatusSection({ facts }: { facts: ObservatoryFacts }) {
  return (
    <>
      <p class="standing">
        {[weatherStatus(facts), labelStatus(facts)].map(({ instrument, word, good }) => (
          <a key={instrument} class={good ? 'chip good' : 'chip'} href="#freshness">
            {instrument}: {word}
          </a>
        ))}
        <span class="keeping">This page does not update itself: reload it for current data.</span>
      </p>
      <p role="status" class="status" />
    </>
  );
}

function Json() {
  return (
    <section aria-labelledby="json">
      <h2 id="json">The same data as JSON</h2>
      <p>
        Every number here comes from one of these public facts, which need no key:{' '}
        <a href="./v1/weather/conditions">conditions</a>, <a href="./v1/weather/metrics">rates and totals</a>,{' '}
        <a href="./v1/labels/overview">labels</a>, <a href="./v1/instruments">all instruments</a>.
      </p>
    </section>
  );
}

/**
 * Shows the caveats of each fact completely and verbatim, because they are part of the fact. A refused fact has no
 * caveats.
 */
function Caveats({ facts: { conditions, metrics, labels } }: { facts: ObservatoryFacts }) {
  // Both weather facts have the same caveats, so one list is enough.
  const weather = conditions.kind === 'served' ? conditions : metrics;
  const weatherName = conditions.kind === 'served' ? 'conditions' : 'metrics';
  return (
    <section aria-labelledby="caveats">
      <h2 id="caveats">Caveats</h2>
      <div class="cards">
        <List title="Weather" fact={weather} at={weatherName} />
        <List title="Labels" fact={labels} at="labels" />
      </div>
    </section>
  );
}

function List({
  title,
  fact,
  at,
}: {
  title: string;
  fact: Shown<{ readonly caveats: readonly string[] }>;
  at: string;
}) {
  return (
    <div>
      <h3>{title}</h3>
      {fact.kind === 'served' ? (
        <ul>
          {fact.envelope.caveats.map((caveat, index) => (
            <li key={index}>
              <Quote text={caveat} at={`${at}/caveats/${index}`} />
            </li>
          ))}
        </ul>
      ) : (
        <p>Its content is not shown now.</p>
      )}
    </div>
  );
}
