import { originTitles } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { originCaveats } from '../caveats.ts';
import { type AccountLinks, Accounts } from './accounts.tsx';
import { Caveats } from './caveats.tsx';
import { Freshness, labelStanding, weatherStanding } from './freshness.tsx';
import { Labels } from './labels.tsx';
import { type ObservatoryFacts, originsShown } from './model.ts';
import { WeatherNow } from './weather-now.tsx';
import { WeatherRates } from './weather-rates.tsx';

/** How the page is kept: as it was loaded, or live by its script, which tells what changed for all to hear. */
export type Keeping = { readonly kind: 'loaded' } | { readonly kind: 'live'; readonly said: string };

/**
 * The observatory's page as a function of the three facts: drawn by the server, and by the script in the browser
 * from what the API answers there. Links are relative, so that it stands behind any prefix.
 */
export function observatory(facts: ObservatoryFacts, keeping: Keeping, accounts: AccountLinks | null): PageParts {
  const origins = originsShown(facts);
  return {
    title: [
      ...origins.map((origin) => originTitles[origin]),
      'Almanac: the weather and the labelers of the AT Protocol network',
    ].join(''),
    description: 'What was observed of the AT Protocol network, with the limits of the observation.',
    base: '.',
    // What is not of the live network must not be found as if it were.
    indexed: origins.length === 0,
    scripts: ['/assets/observatory.js'],
    styles: ['/assets/observatory.css'],
    navigation: [
      { href: './docs', text: 'API' },
      { href: './openapi.json', text: 'OpenAPI' },
      { href: './policy', text: 'Policy' },
      { href: './for-labelers', text: 'For labelers' },
      { href: './llms.txt', text: 'llms.txt' },
    ],
    ...(origins.length === 0 ? {} : { banner: origins.map((origin) => originCaveats[origin]).join(' ') }),
    children: <Body facts={facts} keeping={keeping} accounts={accounts} />,
  };
}

function Body({
  facts,
  keeping,
  accounts,
}: {
  facts: ObservatoryFacts;
  keeping: Keeping;
  accounts: AccountLinks | null;
}) {
  return (
    <>
      <div class="intro">
        <h1>The AT Protocol network, as it was observed</h1>
        <p>
          Almanac watches the network that Bluesky runs on, and tells what it saw, how closely it was watching, and what
          it cannot know.
        </p>
        <Standing facts={facts} keeping={keeping} />
      </div>
      <WeatherNow fact={facts.conditions} />
      <WeatherRates fact={facts.metrics} />
      <Labels fact={facts.labels} />
      <Accounts links={accounts} />
      <Freshness facts={facts} />
      <Caveats facts={facts} />
      <Json />
    </>
  );
}

/** How each instrument stands, in a word, and how this page is kept. */
function Standing({ facts, keeping }: { facts: ObservatoryFacts; keeping: Keeping }) {
  return (
    <>
      <p class="standing">
        {[weatherStanding(facts), labelStanding(facts)].map(({ instrument, word, good }) => (
          <a key={instrument} class={good ? 'chip good' : 'chip'} href="#freshness">
            {instrument}: {word}
          </a>
        ))}
        <span>
          {keeping.kind === 'live'
            ? 'This page keeps itself current.'
            : 'This page is as it was when it was loaded: load it again for what is current.'}
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
      <h2 id="json">The same as JSON</h2>
      <p>
        Every number here stands in one of these, which are public and need no key:{' '}
        <a href="./v1/weather/conditions">conditions</a>, <a href="./v1/weather/metrics">rates and totals</a>,{' '}
        <a href="./v1/labels/overview">labels</a>, <a href="./v1/instruments">all instruments</a>.
      </p>
    </section>
  );
}
