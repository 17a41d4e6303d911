import type { MetricFamily } from './open-metrics.ts';

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
    help: 'Time within the weather window during which the collection was observed.',
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
