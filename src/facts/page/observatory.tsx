import type { ComponentChildren } from 'preact';
import type { Currency } from '../../client/currency.ts';
import type { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { Count, Instant, Span } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import type { PageParts } from '../../web/page-body.tsx';
import { currencyOf, isRecent, markedParts, type ObservatoryFacts, originsShown, type Shown } from '../shown-facts.ts';
import { Labels } from './labels.tsx';
import { Age, Quote, RefusalReason } from './pieces.tsx';

import { WeatherNow, WeatherRates } from './weather.tsx';

/** Sections that do not show facts. */
interface OtherSections {
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
  return {
    ...markedParts(originsShown(facts), 'Almanac: weather and labelers of the AT Protocol network'),
    description: 'Observations of the AT Protocol network, with their limits.',
    base: '.',
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

/** Shows the freshness of each instrument's artifact and the reason for it. */
function Freshness({ facts: { conditions, metrics, labels } }: { facts: ObservatoryFacts }) {
  return (
    <section aria-labelledby="freshness">
      <h2 id="freshness">Freshness of the data</h2>
      <div class="cards">
        <div class="panel">
          <h3>Weather</h3>
          {conditions.kind === 'served' ? (
            <WeatherFreshness envelope={conditions.envelope} name="conditions" />
          ) : metrics.kind === 'served' ? (
            <WeatherFreshness envelope={metrics.envelope} name="metrics" />
          ) : (
            <NotServed fact={conditions} name="conditions" />
          )}
        </div>
        <div class="panel">
          <h3>Labels</h3>
          {labels.kind === 'served' ? (
            <LabelsFreshness envelope={labels.envelope} />
          ) : (
            <NotServed fact={labels} name="labels" />
          )}
        </div>
      </div>
    </section>
  );
}

function NotServed({ fact, name }: { fact: Exclude<Shown<never>, { kind: 'served' }>; name: string }) {
  const state = fact.error.freshness?.state ?? 'unavailable';
  return (
    <>
      <p class="verdict">{capital(refusedText[state])}</p>
      <RefusalReason error={fact.error} name={name} />
    </>
  );
}

const refusedText = {
  stale: 'stale, and refused',
  held: 'held back, and refused',
  unavailable: 'unavailable, and refused',
  fresh: 'refused',
  warming_up: 'refused',
} as const;

const currencyText: Readonly<Record<Currency, string>> = {
  current: 'current',
  partial: 'partial',
  old: 'old',
  unavailable: 'unavailable',
  not_said: 'not known',
};

/** Status of an instrument, as words for readers and as a flag. */
interface InstrumentStatus {
  readonly instrument: string;
  readonly word: string;
  /** True if the instrument's facts are current without any restriction. */
  readonly good: boolean;
}

/** Returns the status of the weather instrument. */
function weatherStatus({ conditions, metrics }: ObservatoryFacts): InstrumentStatus {
  const fact = conditions.kind === 'served' ? conditions : metrics;
  if (fact.kind !== 'served') return { instrument: 'Weather', ...refusedStatus(fact) };
  const currency = currencyOf(fact.envelope);
  return { instrument: 'Weather', word: currencyText[currency], good: currency === 'current' };
}

/** Returns the status of the label instrument. */
function labelStatus({ labels }: ObservatoryFacts): InstrumentStatus {
  if (labels.kind !== 'served') return { instrument: 'Labels', ...refusedStatus(labels) };
  const warming = labels.envelope.freshness.state === 'warming_up';
  return { instrument: 'Labels', word: warming ? 'warming up' : 'fresh', good: !warming };
}

function refusedStatus(fact: Exclude<Shown<never>, { kind: 'served' }>): Omit<InstrumentStatus, 'instrument'> {
  return { word: refusedText[fact.error.freshness?.state ?? 'unavailable'], good: false };
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function WeatherFreshness({
  envelope,
  name,
}: {
  envelope: WeatherConditionsEnvelope | WeatherMetricsEnvelope;
  name: 'conditions' | 'metrics';
}) {
  const { generated_at: made, age_seconds: age, freshness } = envelope;
  return (
    <>
      <p class="verdict">{capital(currencyText[currencyOf(envelope)])}</p>
      <p>
        {made === null ? (
          'The instrument does not state when it wrote this.'
        ) : (
          <>
            Generated on <Instant value={made} at={`${name}/generated_at`} precision="second" />
            {age === null ? null : (
              <>
                , <Age value={age} at={`${name}/age_seconds`} /> at the time of the response
              </>
            )}
            .
          </>
        )}
      </p>
      <p>
        {freshness.age_seconds === null ? (
          'The age of its newest observation at that time is not stated.'
        ) : (
          <>
            The newest observation at that time was{' '}
            <Age value={freshness.age_seconds} at={`${name}/freshness/age_seconds`} />.
            {freshness.max_age_seconds === null ? null : (
              <>
                {' '}
                The sum of both ages must not exceed{' '}
                <Span value={freshness.max_age_seconds} at={`${name}/freshness/max_age_seconds`} />.
              </>
            )}
          </>
        )}
      </p>
      <p class="soft">
        The instrument reported its state as {freshness.state}.
        {freshness.basis === null ? null : (
          <>
            {' '}
            Its rule: <Quote text={freshness.basis} at={`${name}/freshness/basis`} />.
          </>
        )}
      </p>
    </>
  );
}

function LabelsFreshness({ envelope }: { envelope: LabelsOverview }) {
  const { freshness, generated_at: made } = envelope;
  const { state, age_seconds: age, max_age_seconds: most } = freshness;
  const { collection_age_seconds: collectionAge, collection_max_age_seconds: collectionMost } = freshness;
  return (
    <>
      <p class="verdict">{state === 'warming_up' ? 'Warming up' : 'Fresh'}</p>
      <p>
        {made === null ? null : (
          <>
            Generated on <Instant value={made} at="labels/generated_at" precision="second" />,{' '}
          </>
        )}
        {age === null ? null : <Age value={age} at="labels/age_seconds" />} at the time of the response; refused when
        older than <Span value={most} at="labels/freshness/max_age_seconds" />.
      </p>
      {collectionAge === null || collectionAge === undefined || collectionMost === undefined ? null : (
        <p>
          The newest collected page was <Age value={collectionAge} at="labels/freshness/collection_age_seconds" />. It
          is refused when older than <Span value={collectionMost} at="labels/freshness/collection_max_age_seconds" />.
        </p>
      )}
      {state === 'warming_up' && isRecent(envelope) ? (
        <p>
          The observation began after the start of its window:{' '}
          <Count value={envelope.facts.coverage.observed_days} at="labels/facts/coverage/observed_days" /> of{' '}
          <Count value={envelope.facts.window_days} at="labels/facts/window_days" /> days{' '}
          {agreeing(envelope.facts.coverage.observed_days, 'is', 'are')} entirely after that beginning. Counts of longer
          spans cover only the observed part.
        </p>
      ) : null}
    </>
  );
}
