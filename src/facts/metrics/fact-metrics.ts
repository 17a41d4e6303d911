import type { FactEnvelope } from '../../contract/envelope.ts';
import { type ObservatoryFacts, originOf, type Shown } from '../page/model.ts';
import { families } from './families.ts';
import { addLabels } from './label-samples.ts';
import { type Dimensions, MetricSamples } from './open-metrics.ts';
import { addConditions, addMetrics, addWeatherAge, unixSeconds } from './weather-samples.ts';

/** Path of the facts as metrics, which is outside the contract. */
export const factMetricsPath = '/metrics/facts';

/** Formats the facts as OpenMetrics text. */
export function factOpenMetrics(facts: ObservatoryFacts): string {
  return samplesOf(facts).openMetrics(Object.values(families));
}

/** Formats the facts in the text format 0.0.4 of Prometheus. */
export function factPrometheusText(facts: ObservatoryFacts): string {
  return samplesOf(facts).prometheusText(Object.values(families));
}

/**
 * Returns the samples of the facts. A refused fact has no series except `served` and `refused`, and an unknown
 * number has no series. All samples have the dimension `origin`, so that simulated numbers never continue a live
 * series. Only the samples of a refusal without a known origin lack it.
 */
function samplesOf({ conditions, metrics, labels }: ObservatoryFacts): MetricSamples {
  const samples = new MetricSamples();
  add(samples, 'weather_conditions', conditions, (envelope, origin) => {
    addWeatherAge(samples, envelope, { fact: 'weather_conditions', ...origin });
    addConditions(samples, envelope, origin);
  });
  add(samples, 'weather_metrics', metrics, (envelope, origin) => {
    addWeatherAge(samples, envelope, { fact: 'weather_metrics', ...origin });
    addMetrics(samples, envelope, origin);
  });
  add(samples, 'labels_overview', labels, (envelope, origin) => addLabels(samples, envelope, origin));
  return samples;
}

function add<E extends FactEnvelope>(
  samples: MetricSamples,
  fact: string,
  shown: Shown<E>,
  addValues: (envelope: E, origin: Dimensions) => void,
): void {
  const known = originOf(shown);
  const origin: Dimensions = known === undefined ? {} : { origin: known };
  const dimensions = { fact, ...origin };
  samples.add(families.served, dimensions, shown.kind === 'served' ? 1 : 0);
  if (shown.kind === 'refused') samples.add(families.refused, { ...dimensions, code: shown.error.code }, 1);
  if (shown.kind !== 'served') return;
  const { envelope } = shown;
  samples.add(families.age, dimensions, envelope.age_seconds);
  samples.add(families.generated, dimensions, unixSeconds(envelope.generated_at));
  samples.add(families.source, { ...dimensions, ...source(envelope) }, 1);
  addValues(envelope, origin);
}

function source({ contract, provenance }: FactEnvelope): Dimensions {
  const { artifact_schema_version: schema } = provenance;
  const host = 'source_endpoint' in provenance ? { endpoint: provenance.source_endpoint } : {};
  const protocol = 'wire' in provenance && provenance.wire !== undefined ? { protocol: provenance.wire } : {};
  return { contract, schema, ...host, ...protocol };
}
