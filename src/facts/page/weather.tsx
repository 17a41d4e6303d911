import type { Currency } from '../../client/currency.ts';
import type { WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { minRateSeconds } from '../../contract/limits.ts';
import { type CollectionName, collectionNames, type Origin } from '../../contract/vocabulary.ts';
import type { CollectionMetrics, WeatherConditions, WeatherWindow } from '../../contract/weather.ts';
import { Count, Instant, Percent, Rate, Span } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import { Bar } from '../../web/shapes.tsx';
import { collectionWords } from '../hours/shown-hours.ts';

import { confidenceText, currencyOf, isNow, notNow, type Shown, scale } from '../shown-facts.ts';
import { NotMeasured, Picture, Quote, Refused, Stat, Unknown } from './pieces.tsx';

/** Shows the network conditions, which are the first section of the page. */
export function WeatherNow({ fact }: { fact: Shown<WeatherConditionsEnvelope> }) {
  return (
    <section class="now" aria-labelledby="now">
      <div class="shown">
        {fact.kind === 'served' ? <Reading envelope={fact.envelope} /> : <NoReading fact={fact} />}
      </div>
      {fact.kind === 'served' ? (
        <div class="beside">
          <h3>Not measured</h3>
          <NotMeasured items={fact.envelope.provenance.does_not_measure} at="conditions" />
          {isDescribed(fact.envelope) ? (
            <p>
              <a href="./method/weather#what-is-not-measured">Why this is not measured</a>
            </p>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}

function NoReading({ fact }: { fact: Exclude<Shown<never>, { kind: 'served' }> }) {
  return (
    <>
      <p class="eyebrow">Weather of the network</p>
      <h2 id="now" class="headline">
        There is no weather data
      </h2>
      <Refused what="The conditions" name="conditions" fact={fact} />
    </>
  );
}

/**
 * Text above the headline, by origin. It prevents a screenshot of the headline from being mistaken for live weather.
 */
const eyebrows: Readonly<Record<Origin, string>> = {
  live: 'Weather of the network',
  simulated: 'Weather of a simulated network',
  sample: 'A sample, not current weather,',
};

function Reading({ envelope }: { envelope: WeatherConditionsEnvelope }) {
  const { conditions } = envelope.facts;
  const currency = currencyOf(envelope);
  const eyebrow = eyebrows[envelope.provenance.origin ?? 'live'];
  if (conditions === null) {
    return (
      <>
        <p class="eyebrow">{eyebrow}</p>
        <h2 id="now" class="headline">
          The instrument reports no conditions
        </h2>
        <p class="lead">That is absence of data, not calm.</p>
      </>
    );
  }
  if (!isNow(currency)) {
    return <OldReading envelope={envelope} conditions={conditions} currency={currency} eyebrow={eyebrow} />;
  }
  return (
    <>
      <p class="eyebrow">
        {eyebrow}
        <AsOf conditions={conditions} />
      </p>
      <h2 id="now" class="headline">
        <Quote text={conditions.headline} at="conditions/facts/conditions/headline" />
      </h2>
      <p class="lead">
        <Quote text={conditions.sentence} at="conditions/facts/conditions/sentence" />
      </p>
      <Scale state={conditions.state} />
      <State envelope={envelope} conditions={conditions} />
      {currency === 'partial' ? (
        <p class="soft">The instrument reports this data as partial: its newest part was not observed in full.</p>
      ) : null}
    </>
  );
}

/** Shows data that the API still serves although it is no longer current. The data is marked as past. */
function OldReading({
  envelope,
  conditions,
  currency,
  eyebrow,
}: {
  envelope: WeatherConditionsEnvelope;
  conditions: WeatherConditions;
  eyebrow: string;
  currency: Exclude<Currency, 'current' | 'partial'>;
}) {
  return (
    <>
      <p class="eyebrow">{eyebrow}</p>
      <h2 id="now" class="headline">
        There is no current weather data
      </h2>
      <p class="lead">{notNow[currency]}</p>
      <div class="panel past">
        <p>
          The instrument reported
          <AsOf conditions={conditions} />:
        </p>
        <p>
          <strong>
            <Quote text={conditions.headline} at="conditions/facts/conditions/headline" />
          </strong>
          {'. '}
          <Quote text={conditions.sentence} at="conditions/facts/conditions/sentence" />
        </p>
        <State envelope={envelope} conditions={conditions} />
      </div>
    </>
  );
}

function AsOf({ conditions: { as_of: asOf } }: { conditions: WeatherConditions }) {
  if (asOf === null) return <> (no window was compared)</>;
  return (
    <>
      {' as of '}
      <Instant value={asOf} at="conditions/facts/conditions/as_of" />
    </>
  );
}

/** Shows the state. If Almanac's instrument computed the state, links to the rules for the state and its confidence. */
function State({ envelope, conditions }: { envelope: WeatherConditionsEnvelope; conditions: WeatherConditions }) {
  const { state, label, confidence } = conditions;
  const shown = <Quote text={label} at="conditions/facts/conditions/label" />;
  const described = isDescribed(envelope);
  return (
    <p class="state">
      <strong>{described ? <a href={`./method/weather#conditions-${state}`}>{shown}</a> : shown}</strong>.{' '}
      {described ? <a href={`./method/weather#confidence-${confidence}`}>Confidence</a> : 'Confidence'}{' '}
      {confidenceText[confidence]}.
    </p>
  );
}

/** Returns true if the fact comes from the instrument whose method `/method/weather` describes. */
function isDescribed({ provenance }: WeatherConditionsEnvelope): boolean {
  return provenance.artifact_schema_version === 'weather.summary.v1';
}

/** Shows the position of the state on a scale from quiet to busy. A state without a measurement has no position. */
function Scale({ state }: { state: WeatherConditions['state'] }) {
  if (!scale.some((step) => step.state === state)) return null;
  return (
    <ol class="scale" aria-label="Conditions, from the quietest to the busiest">
      {scale.map((step) => (
        <li key={step.state} class={`step ${step.state}`} aria-current={step.state === state ? 'true' : undefined}>
          <span>{step.word}</span>
        </li>
      ))}
    </ol>
  );
}

/** Shows the number of events by collection and the observed part of the interval. */
export function WeatherRates({ fact }: { fact: Shown<WeatherMetricsEnvelope> }) {
  return (
    <section aria-labelledby="arrived">
      <h2 id="arrived">Observed events</h2>
      {fact.kind === 'served' ? (
        <Arrived envelope={fact.envelope} />
      ) : (
        <Refused what="Rates and totals" name="metrics" fact={fact} />
      )}
    </section>
  );
}

function Arrived({ envelope }: { envelope: WeatherMetricsEnvelope }) {
  const { window } = envelope.facts;
  const currency = currencyOf(envelope);
  return (
    <>
      {isNow(currency) ? null : <p class="panel warn">{notNow[currency]}</p>}
      <Interval envelope={envelope} />
      <Totals envelope={envelope} />
      <Picture
        id="watched"
        title="How much of that time was observed"
        notShown={
          <p>
            When the unobserved time was: the API publishes one number for the whole interval, and no series. Missing
            events are never estimated.
          </p>
        }
      >
        <Coverage window={window} />
      </Picture>
      <Picture
        id="rates"
        title="Events by kind"
        notShown={<NotMeasured items={envelope.provenance.does_not_measure} at="metrics" />}
      >
        <Collections envelope={envelope} />
      </Picture>
    </>
  );
}

function Interval({ envelope: { facts, provenance } }: { envelope: WeatherMetricsEnvelope }) {
  const { start, end } = facts.window;
  return (
    <p class="soft">
      Counted on one stream host
      {provenance.source_endpoint === undefined ? null : (
        <>
          , <Quote text={provenance.source_endpoint} at="metrics/provenance/source_endpoint" />
        </>
      )}
      ,{' '}
      {start === null || end === null ? (
        'but no window was observed.'
      ) : (
        <>
          from <Instant value={start} at="metrics/facts/window/start" /> to{' '}
          <Instant value={end} at="metrics/facts/window/end" />.
        </>
      )}
    </p>
  );
}

/** Texts for numbers that are null in the facts, because null does not mean zero. */
const unwatched = 'unknown: none of this time was observed';
const hardlyWatched = 'unknown: too little of this time was observed';
const unrated = 'unknown: no rate is stated';

function Totals({ envelope: { facts } }: { envelope: WeatherMetricsEnvelope }) {
  const {
    total,
    mean_rate_per_s: rate,
    observed_seconds: observed = facts.window.observed_seconds,
  } = facts.total_events;
  const noRate = observed < minRateSeconds ? hardlyWatched : unrated;
  return (
    <dl class="stats">
      <Stat
        figure={
          rate === null ? (
            <Unknown>No rate</Unknown>
          ) : (
            <Rate value={rate} at="metrics/facts/total_events/mean_rate_per_s" />
          )
        }
      >
        {rate !== null ? 'events per second, on average over the observed time' : total === null ? unwatched : noRate}
      </Stat>
      <Stat
        figure={
          total === null ? <Unknown>No total</Unknown> : <Count value={total} at="metrics/facts/total_events/total" />
        }
      >
        {total === null ? unwatched : 'events observed in total'}
      </Stat>
    </dl>
  );
}

function Coverage({ window }: { window: WeatherWindow }) {
  const { coverage_ratio: ratio, observed_seconds: observed, span_seconds: span } = window;
  const at = 'metrics/facts/window';
  if (ratio === null) return <p>Unknown: the interval has no length.</p>;
  return (
    <>
      <p class="verdict">
        <Percent value={ratio} at={`${at}/coverage_ratio`} /> was observed:{' '}
        <Span value={observed} at={`${at}/observed_seconds`} /> of <Span value={span} at={`${at}/span_seconds`} />.
      </p>
      <Bar share={ratio} />
      <Windows window={window} />
    </>
  );
}

function Windows({ window }: { window: WeatherWindow }) {
  const { bucket_seconds: width, observed_windows: watched, unobserved_windows: missed } = window;
  const at = 'metrics/facts/window';
  if (width === undefined || watched === undefined || missed === undefined) return null;
  return (
    <p class="soft">
      Of windows of <Span value={width} at={`${at}/bucket_seconds`} />,{' '}
      <Count value={watched} at={`${at}/observed_windows`} /> {agreeing(watched, 'was', 'were')} observed at least in
      part, and <Count value={missed} at={`${at}/unobserved_windows`} /> not at all.
    </p>
  );
}

function Collections({ envelope: { facts } }: { envelope: WeatherMetricsEnvelope }) {
  const rates = collectionNames.map((name) => facts.collections[name]?.mean_rate_per_s ?? 0);
  const most = Math.max(...rates);
  return (
    <table class="kinds">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="number">
            Per second
          </th>
          <th scope="col" class="number">
            Total
          </th>
        </tr>
      </thead>
      <tbody>
        {collectionNames.map((name) => (
          <Collection
            key={name}
            name={name}
            entry={facts.collections[name] ?? null}
            window={facts.window}
            most={most}
          />
        ))}
      </tbody>
    </table>
  );
}

function Collection({
  name,
  entry,
  window,
  most,
}: {
  name: CollectionName;
  entry: CollectionMetrics | null;
  window: WeatherWindow;
  most: number;
}) {
  const at = `metrics/facts/collections/${name}`;
  const rate = entry?.mean_rate_per_s ?? null;
  return (
    <tr class={/\.(?:reply|quote)$/.test(name) ? 'part' : undefined}>
      <th scope="row">
        <span class="name">{collectionWords[name]}</span>
        {rate !== null && most > 0 ? <Bar share={rate / most} /> : null}
        {entry && entry.observed_seconds < window.observed_seconds ? (
          <small>
            observed for <Span value={entry.observed_seconds} at={`${at}/observed_seconds`} /> only
          </small>
        ) : null}
      </th>
      {entry === null ? (
        <td colSpan={2} class="number">
          <Unknown>not observed</Unknown>
        </td>
      ) : (
        <>
          <td class="number">
            {rate === null ? <Unknown>no rate given</Unknown> : <Rate value={rate} at={`${at}/mean_rate_per_s`} />}
          </td>
          <td class="number">
            <Count value={entry.total} at={`${at}/total`} />
          </td>
        </>
      )}
    </tr>
  );
}
