import type { Currency } from '../../client/currency.ts';
import type { WeatherConditionsEnvelope } from '../../contract/envelope.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import type { WeatherConditions } from '../../contract/weather.ts';
import { Instant } from '../../web/figures.tsx';
import { confidenceText, currencyOf, isNow, notNow, type Shown, scale } from './model.ts';
import { NotMeasured, Quote, Refused } from './pieces.tsx';

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
