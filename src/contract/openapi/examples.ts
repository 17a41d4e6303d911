import type {
  InstrumentIndex,
  LabelsOverview,
  WeatherConditionsEnvelope,
  WeatherMetricsEnvelope,
} from '../envelope.ts';
import { type ErrorBody, errorBody } from '../errors.ts';
import { contractIds } from '../identifiers.ts';

/** Examples of every possible response. Tests validate them against the schemas. */

const sources = {
  enrolled: 121,
  seeded: 64,
  discovered: 57,
  unstarted: 0,
  probing: 0,
  refused: 0,
  established: 121,
  pre_epoch_skipped: 18234411,
  undated_skipped: 12,
  late_skipped: 90211,
  future_skipped: 3,
  cursor_order_unverified: 0,
  undated_only: 0,
  provider_rejects: 0,
  unavailable: 0,
};

const labelsFresh: LabelsOverview = {
  contract: contractIds.labelsOverview,
  instrument: 'labels',
  generated_at: '2026-11-20T12:00:00.000Z',
  retrieved_at: '2026-11-20T12:00:31.250Z',
  age_seconds: 31.25,
  facts: {
    labeler_count: 118,
    alert_count_total: null,
    alert_count_window: null,
    top_labelers_7d: [
      { labeler_did: 'did:plc:ar7c4by46qjdydhdevvrndac', count: 2104331 },
      { labeler_did: 'did:plc:newitj5jo3uel7o4mnf3vj2o', count: 1204220 },
    ],
    window_days: 30,
    acquisition: {
      generation_id: '0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11',
      started_at: '2026-10-06T09:30:00.000Z',
      basis: 'local_acceptance_clock',
    },
    coverage: {
      status: 'gapped',
      observed_days: 30,
      observed_through: '2026-11-20T11:59:48.120Z',
      warmup: null,
      gaps: [{ start: '2026-11-12T17:05:12.000Z', end: '2026-11-12T17:42:00.000Z', reason: 'source_unavailable' }],
      gap_overflow: false,
      sources,
    },
    counts: {
      events_24h: 1391204,
      events_7d: 9764010,
      events_window: 41812377,
      labelers_active_7d: 101,
      labelers_active_window: 118,
    },
    current_label_state: 'unknown',
  },
  caveats: ['Observed application and removal events do not establish which labels are active now.'],
  provenance: {
    instrument: 'labels',
    method: 'label_stream_and_poll',
    artifact_schema_version: 'labels.recent-overview.v1',
    origin: 'live',
    does_not_measure: ['which labels are active now'],
  },
  freshness: {
    state: 'fresh',
    age_seconds: 31.25,
    basis: 'artifact_generated_at',
    max_age_seconds: 7200,
    collection_age_seconds: 43.13,
    collection_max_age_seconds: 7200,
  },
};

const labelsWarmingUp: LabelsOverview = {
  ...labelsFresh,
  facts: {
    labeler_count: 74,
    alert_count_total: null,
    alert_count_window: null,
    top_labelers_7d: [{ labeler_did: 'did:plc:ar7c4by46qjdydhdevvrndac', count: 211042 }],
    window_days: 30,
    acquisition: {
      generation_id: '0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11',
      started_at: '2026-11-18T09:30:00.000Z',
      basis: 'local_acceptance_clock',
    },
    coverage: {
      status: 'warming_up',
      observed_days: 2,
      observed_through: '2026-11-20T11:59:48.120Z',
      warmup: { start: '2026-10-21T12:00:00.000Z', end: '2026-11-18T09:30:00.000Z', reason: 'not_observed' },
      gaps: [],
      gap_overflow: false,
      sources,
    },
    counts: {
      events_24h: 1391204,
      events_7d: 2911204,
      events_window: 2911204,
      labelers_active_7d: 74,
      labelers_active_window: 74,
    },
    current_label_state: 'unknown',
  },
  freshness: {
    state: 'warming_up',
    age_seconds: 31.25,
    basis: 'artifact_generated_at',
    max_age_seconds: 7200,
    collection_age_seconds: 43.13,
    collection_max_age_seconds: 7200,
  },
};

const labelsLegacy: LabelsOverview = {
  contract: contractIds.labelsOverview,
  instrument: 'labels',
  generated_at: '2026-09-11T14:03:22.481907Z',
  retrieved_at: '2026-09-11T14:04:00.000Z',
  age_seconds: 37.518093,
  facts: {
    labeler_count: 584,
    alert_count_total: 131877,
    alert_count_window: 2357,
    alerts_by_rule_24h: { churn_index: 231, flip_flop: 18, label_rate_spike: 85 },
    alerts_by_rule_7d: {
      churn_index: 1604,
      data_gap: 7,
      flip_flop: 133,
      label_rate_spike: 571,
      target_concentration: 42,
    },
    census: {
      visibility_class: { declared: 516, observed_only: 41, protocol_public: 9, unresolved: 18 },
      reachability_state: { accessible: 133, auth_required: 38, down: 121, unknown: 292 },
      classification_confidence: { high: 171, low: 180, medium: 233 },
      auditability: { high: 140, low: 59, medium: 385 },
    },
    network_weather: {
      signals: ['noisy', 'under-observed'],
      attribution: '85 rate-spike alerts (24h) · 5 of 133 labelers below 50% ingest coverage in the last 30m',
      supports_negative_claim: false,
    },
    observation: {
      adequacy: 'partial',
      reason: '5 of 133 labelers below 50% ingest coverage in the last 30m',
      window_minutes: 30,
      coverage_threshold: 0.5,
      labelers_attempted: 131,
      labelers_adequate: 128,
      labelers_degraded: 3,
      labelers_accessible: 133,
      labelers_unattempted: 2,
      attempts: 393,
      successes: 384,
      last_attempt_ts: '2026-09-11T14:01:31.220418Z',
      last_success_ts: '2026-09-11T14:01:31.220418Z',
    },
    heartbeats: {
      discovery: '2026-09-11T05:11:40.120331Z',
      ingest: '2026-09-11T14:01:57.803112Z',
      scan: '2026-09-11T13:59:30.551204Z',
      report: null,
    },
    top_labelers_7d: [{ labeler_did: 'did:plc:newitj5jo3uel7o4mnf3vj2o', count: 311 }],
    current_label_state: 'unknown',
  },
  caveats: ['top_labelers_7d ranks labelers by alerts, not by label volume: this producer counts alerts.'],
  provenance: { instrument: 'labels', method: 'legacy_label_poll', artifact_schema_version: '23' },
  freshness: { state: 'fresh', age_seconds: 37.518093, basis: 'artifact_generated_at', max_age_seconds: 7200 },
};

const weatherHead = {
  instrument: 'weather',
  generated_at: '2026-11-20T12:00:05.000Z',
  retrieved_at: '2026-11-20T12:00:31.250Z',
  age_seconds: 26.25,
} as const;

const weatherWindow = {
  start: '2026-11-19T12:00:00Z',
  end: '2026-11-20T12:00:00Z',
  bucket_seconds: 60,
  span_seconds: 86400,
  observed_seconds: 86211.25,
  coverage_ratio: 0.997815,
  observed_windows: 1438,
  unobserved_windows: 2,
};

const totalEvents = { total: 28484197, mean_rate_per_s: 330.4, observed_seconds: 86211.25 };

const weatherTail: Pick<WeatherMetricsEnvelope, 'caveats' | 'provenance' | 'freshness'> = {
  caveats: ['Rates divide by observed time; unobserved time is omitted, never interpolated.'],
  provenance: {
    instrument: 'weather',
    method: 'jetstream_windows',
    artifact_schema_version: 'weather.summary.v1',
    origin: 'live',
    source_endpoint: 'wss://jetstream.us-east.bsky.network/subscribe',
    measures: 'rates of network events by collection, as one stream host delivered them',
    does_not_measure: ['participant turnover', 'sentiment or content'],
  },
  freshness: {
    state: 'current',
    newest_observation_end: '2026-11-20T12:00:00Z',
    newest_complete_observation_end: '2026-11-20T12:00:00Z',
    age_seconds: 5,
    max_age_seconds: 180,
    basis: 'newest closed window against three bucket widths',
  },
};

const weatherConditions: WeatherConditionsEnvelope = {
  contract: contractIds.weatherConditions,
  ...weatherHead,
  facts: {
    conditions: {
      state: 'active',
      label: 'Active',
      headline: 'Busier than usual for this hour',
      sentence: "Interactions run at 1.14 times the middle of this hour's history.",
      confidence: 'thin',
      as_of: '2026-11-20T12:00:00Z',
    },
    window: weatherWindow,
    total_events: totalEvents,
  },
  ...weatherTail,
};

const weatherMetrics: WeatherMetricsEnvelope = {
  contract: contractIds.weatherMetrics,
  ...weatherHead,
  facts: {
    window: weatherWindow,
    collections: {
      'post.create': {
        total: 3250164,
        mean_rate_per_s: 37.7,
        observed_seconds: 86211.25,
        observed_windows: 1438,
        unobserved_windows: 2,
      },
      'block.delete': null,
    },
    total_events: totalEvents,
  },
  ...weatherTail,
};

const instruments: InstrumentIndex = {
  contract: contractIds.instruments,
  retrieved_at: '2026-11-20T12:00:31.250Z',
  instruments: [
    {
      instrument: 'weather',
      state: 'UNAVAILABLE',
      generated_at: null,
      endpoints: ['/v1/weather/conditions', '/v1/weather/metrics'],
      note: 'Aggregate network activity from a streaming-relay vantage.',
    },
    {
      instrument: 'labels',
      state: 'PRESENT',
      generated_at: '2026-11-20T12:00:00.000Z',
      endpoints: ['/v1/labels/overview'],
      note: 'Observed label application and removal events in a rolling epoch.',
      freshness_state: 'held',
    },
    {
      instrument: 'drift',
      state: 'NOT_PUBLISHED',
      generated_at: null,
      endpoints: [],
      note: 'Claim propagation per subject. Not published: its state is deliberately private.',
    },
  ],
};

const recentBounds = { max_age_seconds: 7200, collection_max_age_seconds: 7200 };

const refusals = {
  stale: errorBody('source_stale', {
    state: 'stale',
    age_seconds: 240.5,
    basis: 'collection_observed_through',
    collection_age_seconds: 7812.4,
    ...recentBounds,
  }),
  held: errorBody('source_held', {
    state: 'held',
    age_seconds: 31.25,
    basis: 'artifact_generated_at',
    collection_age_seconds: 43.13,
    ...recentBounds,
  }),
  unavailable: errorBody('source_unavailable', {
    state: 'unavailable',
    age_seconds: 31.25,
    basis: 'collection_observed_through',
    collection_age_seconds: null,
    ...recentBounds,
  }),
  missing: errorBody('source_unavailable'),
} satisfies Record<string, ErrorBody>;

/** Examples for the OpenAPI document, grouped by the response in which they appear. */
export const examples = {
  instruments: { instruments },
  labelsOverview: { fresh: labelsFresh, warming_up: labelsWarmingUp, legacy: labelsLegacy },
  weatherConditions: { active: weatherConditions },
  weatherMetrics: { observed: weatherMetrics },
  health: { ok: { status: 'ok', service: 'almanac-facts' } },
  labelsRefused: refusals,
  weatherRefused: { unavailable: errorBody('source_unavailable') },
  badRequest: { bad_request: errorBody('bad_request') },
  requestTimeout: { request_timeout: errorBody('request_timeout') },
  uriTooLong: { uri_too_long: errorBody('uri_too_long') },
  headersTooLarge: { headers_too_large: errorBody('headers_too_large') },
  notFound: { not_found: errorBody('not_found') },
  methodNotAllowed: { method_not_allowed: errorBody('method_not_allowed') },
  internalError: { internal_error: errorBody('internal_error') },
  assetUnavailable: { asset_unavailable: errorBody('asset_unavailable') },
} as const;
