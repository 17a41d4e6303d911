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

/**
 * Update mode of the page: static, or updated by the page's script. The script announces changes (`said`) to screen
 * readers.
 */
type Keeping = { readonly kind: 'loaded' } | { readonly kind: 'live'; readonly said: string };

/**
 * Sections that do not show facts. `archive` is null if the page has no section about the archive. The page's script
 * keeps the sections that the server rendered.
 */
export interface OtherSections {
  /** Returns the section about the events of the last 72 hours. `refusal` is the reason why the fact is refused, or null. */
  readonly weatherHours: (refusal: string | null) => ComponentChildren;
  /** Returns the section about the labels of the last 72 hours. */
  readonly labelHours: (refusal: string | null) => ComponentChildren;
  /** Returns the section about the archive. `refusal` is the reason why the label overview is refused, or null. */
  readonly archive: ((refusal: string | null) => ComponentChildren) | null;
  readonly accounts: ComponentChildren;
}

/**
 * Renders the observatory page from the three facts, on the server and in the browser. Links are relative, so that the
 * page works under any path prefix.
 */
export function observatory(facts: ObservatoryFacts, keeping: Keeping, others: OtherSections): PageParts {
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
    children: <Body facts={facts} keeping={keeping} others={others} />,
  };
}

function Body({ facts, keeping, others }: { facts: ObservatoryFacts; keeping: Keeping; others: OtherSections }) {
  return (
    <>
      <div class="intro">
        <h1>Observations of the AT Protocol network</h1>
        <p>
          Almanac observes the network that Bluesky runs on, and reports what it observed, how complete the observation
          was, and what it cannot know.
        </p>
        <StatusSection facts={facts} keeping={keeping} />
      </div>
      <WeatherNow fact={facts.conditions} />
      {others.weatherHours(refusalOf(facts.conditions))}
      <WeatherRates fact={facts.metrics} />
      <Labels fact={facts.labels} />
      {others.labelHours(refusalOf(facts.labels))}
      {others.archive?.(refusalOf(facts.labels))}
      {others.accounts}
      <Freshness facts={facts} />
      <Caveats facts={facts} />
      <Json />
    </>
  );
}

/** Returns the reason why a fact is not shown; null if it is shown. */
function refusalOf(fact: Shown<unknown>): string | null {
  if (fact.kind === 'served') return null;
  return fact.kind === 'refused' ? fact.error.message : 'The service did not respond.';
}

/** Shows the status of each instrument and the update mode of the page. */
function StatusSection({ facts, keeping }: { facts: ObservatoryFacts; keeping: Keeping }) {
  return (
    <>
      <p class="standing">
        {[weatherStatus(facts), labelStatus(facts)].map(({ instrument, word, good }) => (
          <a key={instrument} class={good ? 'chip good' : 'chip'} href="#freshness">
            {instrument}: {word}
          </a>
        ))}
        <span>
          {keeping.kind === 'live'
            ? 'This page updates itself.'
            : 'This page does not update itself: reload it for current data.'}
        </span>
      </p>
      <p role="status" class="status">
        {keeping.kind === 'live' ? keeping.said : ''}
      </p>
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
