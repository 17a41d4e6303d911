import type { Currency } from '../../client/currency.ts';
import type { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { Count, Instant, Span } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import { currencyOf, isRecent, type ObservatoryFacts, type Shown } from './model.ts';
import { Age, Quote, RefusalReason } from './pieces.tsx';

/** Shows the freshness of each instrument's artifact and the reason for it. */
export function Freshness({ facts: { conditions, metrics, labels } }: { facts: ObservatoryFacts }) {
  return (
    <section aria-labelledby="freshness">
      <h2 id="freshness">Freshness of the data</h2>
      <div class="cards">
        <div class="panel">
          <h3>Weather</h3>
          {conditions.kind === 'served' ? (
            <Weather envelope={conditions.envelope} name="conditions" />
          ) : metrics.kind === 'served' ? (
            <Weather envelope={metrics.envelope} name="metrics" />
          ) : (
            <NotServed fact={conditions} name="conditions" />
          )}
        </div>
        <div class="panel">
          <h3>Labels</h3>
          {labels.kind === 'served' ? <Labels envelope={labels.envelope} /> : <NotServed fact={labels} name="labels" />}
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
export function weatherStatus({ conditions, metrics }: ObservatoryFacts): InstrumentStatus {
  const fact = conditions.kind === 'served' ? conditions : metrics;
  if (fact.kind !== 'served') return { instrument: 'Weather', ...refusedStatus(fact) };
  const currency = currencyOf(fact.envelope);
  return { instrument: 'Weather', word: currencyText[currency], good: currency === 'current' };
}

/** Returns the status of the label instrument. */
export function labelStatus({ labels }: ObservatoryFacts): InstrumentStatus {
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

function Weather({
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

function Labels({ envelope }: { envelope: LabelsOverview }) {
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
