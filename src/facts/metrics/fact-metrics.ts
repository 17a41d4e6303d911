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
} from '../shown-facts.ts';
import { type Dimensions, type MetricFamily, MetricSamples } from './open-metrics.ts';

/**
 * The facts as metrics, which are outside the contract: OpenMetrics, and the older text format, which many readers know
 * only.
 */
export const factMetrics = {
  path: '/metrics/facts',
  representations: [
    {
      contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      render: (facts: ObservatoryFacts): string => samplesOf(facts).openMetrics(Object.values(families)),
    },
    {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      render: (facts: ObservatoryFacts): string => samplesOf(facts).prometheusText(Object.values(families)),
    },
  ],
} as const;

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
    // Without this zero, a minimum over the collections would not see one that was not observed at all.
    samples.add(families.collectionObserved, { ...origin, collection }, entry === null ? 0 : entry?.observed_seconds);
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

/**
 * Metric families of `/metrics/facts`. The values of dimensions come from closed vocabularies; only `source` contains
 * untrusted text.
 */
export const families = {
  served: {
    name: 'almanac_fact_served',
    type: 'gauge',
    help: '1 if the fact is served, and 0 if it is refused.',
  },
  refused: {
    name: 'almanac_fact_refused',
    type: 'gauge',
    help: '1 for a refused fact, with the error code.',
  },
  age: {
    name: 'almanac_fact_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the artifact when the service built the fact, up to 60 s before the response.',
  },
  generated: {
    name: 'almanac_fact_generated_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time at which the instrument produced the artifact.',
  },
  source: {
    name: 'almanac_fact_source',
    type: 'info',
    help: 'Contract of the fact, schema of its artifact and, for weather, the one observed host and its protocol.',
  },
  currency: {
    name: 'almanac_fact_weather_currency',
    type: 'stateset',
    help: 'Current state of a weather fact, computed from the freshness in the artifact and the age of the artifact.',
  },
  observationAge: {
    name: 'almanac_fact_weather_observation_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the newest weather observation: its age stated in the artifact plus the age of the artifact.',
  },
  condition: {
    name: 'almanac_fact_weather_condition',
    type: 'stateset',
    help: 'Classified condition of network activity. station_offline and unavailable are not calm.',
  },
  confidence: {
    name: 'almanac_fact_weather_confidence',
    type: 'stateset',
    help: 'Amount of history that supports the condition.',
  },
  span: {
    name: 'almanac_fact_weather_window_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Length of the weather window.',
  },
  windowEnd: {
    name: 'almanac_fact_weather_window_end_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'End of the weather window.',
  },
  observed: {
    name: 'almanac_fact_weather_observed_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Observed time within the weather window.',
  },
  coverageRatio: {
    name: 'almanac_fact_weather_coverage_ratio',
    type: 'gauge',
    unit: 'ratio',
    help: 'Observed part of the weather window as a fraction of its length.',
  },
  events: {
    name: 'almanac_fact_weather_events',
    type: 'gauge',
    help: 'Events observed in the weather window, tracked or not.',
  },
  rate: {
    name: 'almanac_fact_weather_events_per_second',
    type: 'gauge',
    help: 'Events per observed second of the weather window.',
  },
  collectionEvents: {
    name: 'almanac_fact_weather_collection_events',
    type: 'gauge',
    help: 'Events of a collection observed in the weather window. Collections overlap: do not add them up.',
  },
  collectionRate: {
    name: 'almanac_fact_weather_collection_events_per_second',
    type: 'gauge',
    help: 'Events of a collection per second in which it was observed.',
  },
  collectionObserved: {
    name: 'almanac_fact_weather_collection_observed_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Time within the weather window during which the collection was observed; 0 if it was not observed.',
  },
  labelMaxAge: {
    name: 'almanac_fact_labels_max_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Age beyond which the label overview is refused.',
  },
  collectionAge: {
    name: 'almanac_fact_labels_collection_age_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Age of the latest accepted label page.',
  },
  labelFreshness: {
    name: 'almanac_fact_labels_freshness',
    type: 'stateset',
    help: 'Freshness of the served label overview.',
  },
  labelEvents: {
    name: 'almanac_fact_labels_events',
    type: 'gauge',
    help: 'Observed label applications and removals in the last 24 hours, the last 7 days and the whole window.',
  },
  activeLabelers: {
    name: 'almanac_fact_labels_active_labelers',
    type: 'gauge',
    help: 'Labelers with at least one observation in the last 7 days and in the window.',
  },
  labelWindow: {
    name: 'almanac_fact_labels_window_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Length of the label window.',
  },
  labelObserved: {
    name: 'almanac_fact_labels_observed_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Whole days of the label window since acquisition began. Gaps are not subtracted.',
  },
  labelStarted: {
    name: 'almanac_fact_labels_started_timestamp_seconds',
    type: 'gauge',
    unit: 'seconds',
    help: 'Start of label acquisition. Nothing was observed before it.',
  },
  labelCoverage: {
    name: 'almanac_fact_labels_coverage',
    type: 'stateset',
    help: 'Coverage of the label window. no_recorded_gaps does not prove complete source coverage.',
  },
  gaps: {
    name: 'almanac_fact_labels_gaps',
    type: 'gauge',
    help: 'Recorded gaps in the label window. Absent if there are more than can be listed.',
  },
  sources: {
    name: 'almanac_fact_labels_sources',
    type: 'gauge',
    help: 'Label sources by kind. enrolled includes every other kind.',
  },
  skipped: {
    name: 'almanac_fact_labels_skipped_rows',
    type: 'gauge',
    help: 'Label rows that were not stored, by reason.',
  },
  knownLabelers: {
    name: 'almanac_fact_labels_known_labelers',
    type: 'gauge',
    help: 'Labelers known to the legacy producer.',
  },
  alerts: {
    name: 'almanac_fact_labels_alerts',
    type: 'gauge',
    help: 'Alerts of the legacy producer in the last 7 days.',
  },
  adequacy: {
    name: 'almanac_fact_labels_adequacy',
    type: 'stateset',
    help: 'Adequacy of the observation by the legacy producer.',
  },
} as const satisfies Record<string, MetricFamily>;
