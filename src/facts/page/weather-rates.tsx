import type { WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import type { CollectionMetrics, WeatherWindow } from '../../contract/weather.ts';
import { Bar } from '../../web/bar.tsx';
import { Count, Instant, Percent, Rate, Span } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import { collectionWords } from '../hours/shown-hours.ts';
import { currencyOf, isNow, notNow, type Shown } from './model.ts';
import { NotMeasured, Picture, Quote, Refused, Stat, Unknown } from './pieces.tsx';

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

/** Text for a number that is null in the facts, because null does not mean zero. */
const unwatched = 'unknown: none of this time was observed';

function Totals({ envelope: { facts } }: { envelope: WeatherMetricsEnvelope }) {
  const { total, mean_rate_per_s: rate } = facts.total_events;
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
        {rate === null ? unwatched : 'events per second, on average over the observed time'}
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
