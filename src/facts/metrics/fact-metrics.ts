import { currencies } from '../../client/currency.ts';
import type {
  FactEnvelope,
  LabelsOverview,
  WeatherConditionsEnvelope,
  WeatherMetricsEnvelope,
} from '../../contract/envelope.ts';
import type { CoverageSources } from '../../contract/labels.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import {
  adequacies,
  collectionNames,
  conditionStates,
  confidences,
  coverageStatuses,
} from '../../contract/vocabulary.ts';
import {
  currencyOf,
  isLegacy,
  isNow,
  isRecent,
  type LegacyEnvelope,
  type ObservatoryFacts,
  originOf,
  type RecentEnvelope,
  type Shown,
} from '../page/model.ts';
import { families } from './families.ts';
import { type Dimensions, MetricSamples } from './open-metrics.ts';

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

const daySeconds = 86_400;

/** Adds the samples of a label overview. */
function addLabels(samples: MetricSamples, envelope: LabelsOverview, origin: Dimensions): void {
  const { freshness } = envelope;
  samples.addState(families.labelFreshness, origin, ['fresh', 'warming_up'], freshness.state);
  samples.add(families.labelMaxAge, origin, freshness.max_age_seconds);
  samples.add(families.collectionAge, origin, freshness.collection_age_seconds);
  if (isRecent(envelope)) addRecent(samples, envelope, origin);
  else if (isLegacy(envelope)) addLegacy(samples, envelope, origin);
}

function addRecent(samples: MetricSamples, { facts }: RecentEnvelope, origin: Dimensions): void {
  const { counts, coverage } = facts;
  samples.add(families.labelEvents, { ...origin, span: '24h' }, counts.events_24h);
  samples.add(families.labelEvents, { ...origin, span: '7d' }, counts.events_7d);
  samples.add(families.labelEvents, { ...origin, span: 'window' }, counts.events_window);
  samples.add(families.activeLabelers, { ...origin, span: '7d' }, counts.labelers_active_7d);
  samples.add(families.activeLabelers, { ...origin, span: 'window' }, counts.labelers_active_window);
  samples.add(families.labelWindow, origin, facts.window_days * daySeconds);
  samples.add(families.labelObserved, origin, coverage.observed_days * daySeconds);
  samples.add(families.labelStarted, origin, unixSeconds(facts.acquisition.started_at));
  samples.addState(families.labelCoverage, origin, coverageStatuses, coverage.status);
  samples.add(families.gaps, origin, coverage.gap_overflow ? null : coverage.gaps.length);
  for (const kind of sourceKinds) samples.add(families.sources, { ...origin, kind }, coverage.sources[kind]);
  for (const [reason, field] of skipReasons) {
    samples.add(families.skipped, { ...origin, reason }, coverage.sources[field]);
  }
}

function addLegacy(samples: MetricSamples, { facts }: LegacyEnvelope, origin: Dimensions): void {
  samples.add(families.knownLabelers, origin, facts.labeler_count);
  samples.add(families.alerts, origin, facts.alert_count_window);
  if (facts.observation) samples.addState(families.adequacy, origin, adequacies, facts.observation.adequacy);
}

const sourceKinds = [
  'enrolled',
  'seeded',
  'discovered',
  'unstarted',
  'probing',
  'refused',
  'established',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
] as const satisfies readonly (keyof CoverageSources)[];

const skipReasons = [
  ['pre_epoch', 'pre_epoch_skipped'],
  ['undated', 'undated_skipped'],
  ['late', 'late_skipped'],
  ['future', 'future_skipped'],
] as const satisfies readonly (readonly [string, keyof CoverageSources])[];

/** Adds the samples of the weather conditions. Adds no sample if the conditions are absent or no longer current. */
function addConditions(samples: MetricSamples, envelope: WeatherConditionsEnvelope, origin: Dimensions): void {
  const { conditions } = envelope.facts;
  if (conditions === null || !isNow(currencyOf(envelope))) return;
  samples.addState(families.condition, origin, conditionStates, conditions.state);
  samples.addState(families.confidence, origin, confidences, conditions.confidence);
}

/**
 * Adds the samples of the window, totals and collections. A fact that is served but no longer current has only its
 * state and its ages, because a scraper would store old numbers with the time of the scrape.
 */
function addMetrics(samples: MetricSamples, envelope: WeatherMetricsEnvelope, origin: Dimensions): void {
  const { window, total_events: total, collections } = envelope.facts;
  if (!isNow(currencyOf(envelope))) return;
  samples.add(families.span, origin, window.span_seconds);
  samples.add(families.windowEnd, origin, unixSeconds(window.end));
  samples.add(families.observed, origin, window.observed_seconds);
  samples.add(families.coverageRatio, origin, window.coverage_ratio);
  samples.add(families.events, origin, total.total);
  samples.add(families.rate, origin, total.mean_rate_per_s);
  for (const collection of collectionNames) {
    const entry = collections[collection];
    samples.add(families.collectionEvents, { ...origin, collection }, entry?.total);
    samples.add(families.collectionRate, { ...origin, collection }, entry?.mean_rate_per_s);
    samples.add(families.collectionObserved, { ...origin, collection }, entry?.observed_seconds);
  }
}

/**
 * Adds the state of a weather fact and the age of its newest observation. Facts that are no longer current also have
 * these samples. An unknown age adds no sample.
 */
function addWeatherAge(
  samples: MetricSamples,
  envelope: WeatherConditionsEnvelope | WeatherMetricsEnvelope,
  dimensions: Dimensions,
): void {
  samples.addState(families.currency, dimensions, currencies, currencyOf(envelope));
  const { age_seconds: then } = envelope.freshness;
  if (envelope.age_seconds === null || then === null) return;
  samples.add(families.observationAge, dimensions, envelope.age_seconds + then);
}

/** Converts a timestamp of the contract to seconds since 1970; null if the time is unknown. */
function unixSeconds(timestamp: string | null): number | null {
  const micros = timestamp === null ? null : parseTimestamp(timestamp);
  return micros === null ? null : micros / 1e6;
}
