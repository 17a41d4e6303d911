import { topLabelers } from './recent-model.ts';
import {
  count,
  fields,
  flag,
  type Json,
  type JsonObject,
  list,
  object,
  optional,
  positive,
  type Reading,
  rate,
  sum,
  text,
  timeOrNull,
  word,
} from './values.ts';

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
  const observation = (artifact.observation ?? null) === null ? undefined : observationOf(object(artifact.observation));
  const byRule7d = optional(rules)(artifact.alerts_by_rule_7d);
  const facts: Record<string, Json | undefined> = {
    labeler_count: count(artifact.labeler_count),
    alert_count_total: count(artifact.alert_count),
    alert_count_window: byRule7d ? sum(Object.values(byRule7d)) : null,
    alerts_by_rule_24h: published(optional(rules)(artifact.alerts_by_rule_24h)),
    alerts_by_rule_7d: published(byRule7d),
    census: fields<Json>(
      object(artifact.census),
      Object.fromEntries(Object.entries(censusValues).map(([name, words]) => [name, (value) => tally(value, words)])),
    ),
    network_weather: networkWeather(object(artifact.network_weather), observation),
    observation,
    heartbeats: heartbeats(object(artifact.heartbeats)),
    top_labelers_7d: topLabelers(artifact.top_labelers_7d),
    window_days: optional(positive)(artifact.window_days),
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
      hold: artifact.hold === undefined ? false : flag(artifact.hold),
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
  return Object.fromEntries(Object.entries(object(value)).map(([rule, alerts]) => [rule, count(alerts)]));
}

/** Returns the counts of the rules whose names can be published; undefined without counts. */
function published(byRule: Record<string, number> | undefined): JsonObject | undefined {
  if (!byRule) return undefined;
  return Object.fromEntries(Object.entries(byRule).filter(([rule]) => /^[a-z][a-z0-9_]{0,63}$/.test(rule)));
}

/**
 * Counts labelers by value. Unrecognized values are counted as `unknown`. Throws `malformed` if the sum is not a valid
 * count.
 */
function tally(value: Json | undefined, words: readonly string[]): JsonObject {
  const found: Record<string, number> = {};
  for (const [key, labelers] of Object.entries(object(value))) {
    const name = words.includes(key) ? key : 'unknown';
    found[name] = (found[name] ?? 0) + count(labelers);
  }
  sum(Object.values(found) as number[]);
  return found;
}

function observationOf(from: JsonObject): JsonObject {
  const counts = [
    ...['labelers_attempted', 'labelers_adequate', 'labelers_degraded', 'labelers_accessible'],
    ...['labelers_unattempted', 'attempts', 'successes', 'window_minutes'],
  ];
  return fields<Json>(from, {
    adequacy: word(['adequate', 'partial', 'unobserved']),
    reason: text,
    coverage_threshold: rate,
    last_attempt_ts: timeOrNull,
    last_success_ts: timeOrNull,
    ...Object.fromEntries(counts.map((name) => [name, count])),
  });
}

function heartbeats(from: JsonObject): JsonObject {
  return Object.fromEntries(
    ['discovery', 'ingest', 'scan', 'report'].map((name) => [name, timeOrNull(from[`last_${name}_ok_ts`])]),
  );
}

function networkWeather(from: JsonObject, observation: JsonObject | undefined): JsonObject {
  const known = list(from.signals, text).filter((signal) => networkSignals.includes(signal));
  const attribution = text(from.attribution);
  const supports = flag(from.supports_negative_claim);
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
