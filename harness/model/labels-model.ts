import type { Json, JsonObject, Reading } from './values.ts';
import * as rule from './values.ts';

/** A model of `labels.recent-overview.v1`, the overview of a rolling window. */

const statuses = ['warming_up', 'gapped', 'no_recorded_gaps', 'unknown'];
const reasons = [
  'not_observed',
  'source_unavailable',
  'ingest_paused',
  'cursor_reset',
  'maintenance',
  'warmup',
  'unknown',
];
const maxGaps = 128;
const required = [
  ...['enrolled', 'unstarted', 'probing', 'refused', 'established', 'pre_epoch_skipped', 'undated_skipped'],
  ...['late_skipped', 'cursor_order_unverified', 'undated_only', 'provider_rejects', 'unavailable'],
];

/** Source states in which the coverage is unknown. */
const unknownSources = [
  ...['unstarted', 'probing', 'refused', 'unavailable', 'cursor_order_unverified', 'undated_only', 'provider_rejects'],
];

export function recentReading(artifact: JsonObject): Reading {
  const hold = artifact.hold === undefined ? false : rule.flag(artifact.hold);
  const origin = artifact.origin === undefined ? 'live' : rule.word(['live', 'simulated', 'sample'])(artifact.origin);
  const windowDays = rule.positive(artifact.window_days);
  const coverage = coverageOf(rule.object(artifact.coverage), windowDays, artifact.generated_at);
  return {
    schema: 'recent',
    generatedAt: artifact.generated_at,
    origin,
    provenance: {
      instrument: 'labels',
      method: 'label_stream_and_poll',
      artifact_schema_version: 'labels.recent-overview.v1',
      origin,
      does_not_measure: rule.list(artifact.does_not_measure, rule.text),
    },
    facts: {
      '/v1/labels/overview': {
        labeler_count: rule.count(artifact.labeler_count),
        alert_count_total: null,
        alert_count_window: null,
        top_labelers_7d: topLabelers(artifact.top_labelers_7d),
        window_days: windowDays,
        acquisition: rule.fields<Json>(rule.object(artifact.acquisition), {
          generation_id: rule.uuid,
          started_at: rule.time,
          basis: rule.word(['local_acceptance_clock']),
        }),
        coverage,
        counts: rule.fields<Json>(rule.object(artifact.counts), {
          events_24h: rule.count,
          events_7d: rule.count,
          events_window: rule.count,
          labelers_active_7d: rule.count,
          labelers_active_window: rule.count,
        }),
        current_label_state: 'unknown',
      },
    },
    caveats: rule.list(artifact.caveats, rule.text),
    label: {
      hold,
      warming: coverage.warmup !== null || Number(coverage.observed_days) < windowDays,
      observedThrough: rule.object(artifact.coverage).observed_through,
    },
    freshness: null,
  };
}

function topLabelers(value: Json | undefined): Json[] {
  return rule.list(value, (item) =>
    rule.fields<Json>(rule.object(item), { labeler_did: rule.labelerDid, count: rule.count }),
  );
}

function gap(value: Json | undefined): JsonObject {
  const found = rule.fields<Json>(rule.object(value), {
    start: rule.time,
    end: rule.time,
    reason: rule.wordOrUnknown(reasons),
  });
  rule.inOrder(rule.instant(found.start), rule.instant(found.end));
  return found;
}

function coverageOf(from: JsonObject, windowDays: number, generatedAt: Json | undefined): JsonObject {
  const listed = rule.list(from.gaps, gap);
  const overflow = rule.flag(from.gap_overflow) || listed.length > maxGaps;
  const warmup = rule.nullOr(gap)(from.warmup);
  const sources = rule.fields<Json>(rule.object(from.sources), {
    ...Object.fromEntries(required.map((name) => [name, rule.count])),
    seeded: rule.optional(rule.count) as typeof rule.count,
    discovered: rule.optional(rule.count) as typeof rule.count,
    future_skipped: rule.optional(rule.count) as typeof rule.count,
  });
  const claimed = rule.wordOrUnknown(statuses)(from.status);
  return {
    status: weaker(claimed, [
      unknownSources.some((name) => sources[name] !== 0) && 'unknown',
      sources.enrolled === 0 && claimed === 'no_recorded_gaps' && 'unknown',
      overflow && claimed === 'no_recorded_gaps' && 'unknown',
      warmup !== null && 'warming_up',
      (overflow || listed.length > 0) && 'gapped',
    ]),
    observed_days: Math.min(rule.count(from.observed_days), windowDays),
    observed_through: rule.timeOrNull(from.observed_through),
    warmup,
    gaps: overflow ? wholeWindow(generatedAt, windowDays) : listed,
    gap_overflow: overflow,
    sources,
  };
}

/** Coverage states in order of decreasing priority. An inconsistent overview gets the first state that applies. */
const fromLeast = ['unknown', 'warming_up', 'gapped', 'no_recorded_gaps'];

function weaker(claimed: string, implied: readonly (string | false)[]): string {
  return fromLeast.find((status) => status === claimed || implied.includes(status)) ?? 'unknown';
}

/**
 * Returns one gap that covers the whole window, or an empty list if the generation time is unusable. The service
 * computes the start of the gap in whole milliseconds.
 */
function wholeWindow(generatedAt: Json | undefined, windowDays: number): Json[] {
  const end = rule.instant(generatedAt);
  if (end === null) return [];
  const start = rule.floorDivide(end - BigInt(windowDays) * rule.day, 1_000_000n) * 1_000_000n;
  return [{ start: `@${start}`, end: `@${end}`, reason: 'unknown' }];
}

/** A model of the legacy overview with schema 23. */

const networkSignals = ['noisy', 'churny', 'conflicted', 'degraded', 'calm', 'under-observed', 'unobserved'];
const levels = ['high', 'medium', 'low', 'unknown'];
const censusValues = {
  visibility_class: ['declared', 'protocol_public', 'observed_only', 'unresolved', 'unknown'],
  reachability_state: ['accessible', 'auth_required', 'down', 'unknown'],
  classification_confidence: levels,
  auditability: levels,
};
/**
 * Placeholder for the fixed attribution that the service publishes when it removes the `calm` signal from a summary.
 */
export const fixedAttribution = '@fixed';

export function legacyReading(artifact: JsonObject): Reading {
  const observation =
    (artifact.observation ?? null) === null ? undefined : observationOf(rule.object(artifact.observation));
  const byRule7d = rule.optional(rules)(artifact.alerts_by_rule_7d);
  const facts: Record<string, Json | undefined> = {
    labeler_count: rule.count(artifact.labeler_count),
    alert_count_total: rule.count(artifact.alert_count),
    alert_count_window: byRule7d ? rule.sum(Object.values(byRule7d)) : null,
    alerts_by_rule_24h: published(rule.optional(rules)(artifact.alerts_by_rule_24h)),
    alerts_by_rule_7d: published(byRule7d),
    census: rule.fields<Json>(
      rule.object(artifact.census),
      Object.fromEntries(Object.entries(censusValues).map(([name, words]) => [name, (value) => tally(value, words)])),
    ),
    network_weather: networkWeather(rule.object(artifact.network_weather), observation),
    observation,
    heartbeats: heartbeats(rule.object(artifact.heartbeats)),
    top_labelers_7d: topLabelers(artifact.top_labelers_7d),
    window_days: rule.optional(rule.positive)(artifact.window_days),
    current_label_state: 'unknown',
  };
  return {
    schema: 'legacy',
    generatedAt: artifact.generated_at,
    origin: 'live',
    provenance: { instrument: 'labels', method: 'legacy_label_poll', artifact_schema_version: '23' },
    facts: { '/v1/labels/overview': present(facts) },
    caveats: [],
    label: {
      hold: artifact.hold === undefined ? false : rule.flag(artifact.hold),
      warming: false,
      observedThrough: undefined,
    },
    freshness: null,
  };
}

function present(from: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as JsonObject;
}

function rules(value: Json | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(rule.object(value)).map(([name, alerts]) => [name, rule.count(alerts)]));
}

/** Returns the counts of the rules whose names can be published; undefined without counts. */
function published(byRule: Record<string, number> | undefined): JsonObject | undefined {
  if (!byRule) return undefined;
  return Object.fromEntries(Object.entries(byRule).filter(([name]) => /^[a-z][a-z0-9_]{0,63}$/.test(name)));
}

/**
 * Counts labelers by value. Unrecognized values are counted as `unknown`. Throws `malformed` if the sum is not a valid
 * count.
 */
function tally(value: Json | undefined, words: readonly string[]): JsonObject {
  const found: Record<string, number> = {};
  for (const [key, labelers] of Object.entries(rule.object(value))) {
    const name = words.includes(key) ? key : 'unknown';
    found[name] = (found[name] ?? 0) + rule.count(labelers);
  }
  rule.sum(Object.values(found) as number[]);
  return found;
}

function observationOf(from: JsonObject): JsonObject {
  const counts = [
    ...['labelers_attempted', 'labelers_adequate', 'labelers_degraded', 'labelers_accessible'],
    ...['labelers_unattempted', 'attempts', 'successes', 'window_minutes'],
  ];
  return rule.fields<Json>(from, {
    adequacy: rule.word(['adequate', 'partial', 'unobserved']),
    reason: rule.text,
    coverage_threshold: rule.rate,
    last_attempt_ts: rule.timeOrNull,
    last_success_ts: rule.timeOrNull,
    ...Object.fromEntries(counts.map((name) => [name, rule.count])),
  });
}

function heartbeats(from: JsonObject): JsonObject {
  return Object.fromEntries(
    ['discovery', 'ingest', 'scan', 'report'].map((name) => [name, rule.timeOrNull(from[`last_${name}_ok_ts`])]),
  );
}

function networkWeather(from: JsonObject, observation: JsonObject | undefined): JsonObject {
  const known = rule.list(from.signals, rule.text).filter((signal) => networkSignals.includes(signal));
  const attribution = rule.text(from.attribution);
  const supports = rule.flag(from.supports_negative_claim);
  const saysOtherwise = known.some((signal) => signal === 'under-observed' || signal === 'unobserved');
  if (observation?.adequacy === 'adequate' && !saysOtherwise) {
    return { signals: known, attribution, supports_negative_claim: supports && known.length > 0 };
  }
  const words: Record<string, string> = {
    adequate: known.find((signal) => /observed$/.test(signal)) ?? '',
    partial: 'under-observed',
  };
  const adequacy = words[String(observation?.adequacy)] ?? 'unobserved';
  const kept = known.filter((signal) => signal !== 'calm');
  return {
    signals: kept.includes(adequacy) ? kept : [...kept, adequacy],
    attribution: kept.length < known.length ? fixedAttribution : attribution,
    supports_negative_claim: false,
  };
}
