import Type from 'typebox';
import {
  type CollectionName,
  collectionNames,
  conditionStates,
  confidences,
  origins,
  weatherFreshnessStates,
  wires,
} from '../contract/vocabulary.ts';
import { anyTime, check, count, measure, nullable, oneOf, usableInstant } from './schema.ts';

/** Schema `weather.summary.v1`: the artifact of Almanac's weather instrument. */

const Collection = Type.Object({
  total: count(),
  mean_rate_per_s: nullable(measure()),
  observed_seconds: measure(),
  observed_windows: count(),
  unobserved_windows: count(),
});

/** One collection, as read from an artifact of either weather producer. */
export type CollectionSummary = Type.Static<typeof Collection>;

/** Returns the schema of the published collections by name; other names in the artifact are ignored. */
function collections() {
  const named: Record<string, Type.TSchema> = {};
  for (const name of collectionNames) named[name] = Type.Optional(nullable(Collection));
  return Type.Unsafe<Partial<Record<CollectionName, CollectionSummary | null>>>(Type.Object(named));
}

/** Schema of the conditions in an artifact of either weather producer. An invalid `as_of` is published as null. */
const Conditions = () =>
  Type.Object({
    state: oneOf(conditionStates),
    label: Type.String(),
    headline: Type.String(),
    sentence: Type.String(),
    confidence: oneOf(confidences),
    as_of: Type.Optional(nullable(Type.String())),
  });

const WeatherSummarySchema = Type.Object({
  schema: Type.Literal('weather.summary.v1'),
  generated_at: anyTime(),
  origin: Type.Optional(oneOf(origins)),
  source: Type.Object({
    endpoint: Type.String(),
    method: Type.String(),
    wire: Type.Optional(oneOf(wires)),
  }),
  window: Type.Object({
    start: usableInstant(),
    end: usableInstant(),
    bucket_seconds: count(),
    span_seconds: measure(),
    observed_seconds: measure(),
    coverage_ratio: nullable(measure()),
    observed_windows: count(),
    unobserved_windows: count(),
  }),
  conditions: Conditions(),
  /** Progress of the baseline while it has too few days for conditions; absent once it has enough days. */
  baseline: Type.Optional(Type.Object({ observed_days: count(), required_days: count() })),
  total_events: Type.Object({
    total: nullable(count()),
    mean_rate_per_s: nullable(measure()),
    observed_seconds: measure(),
  }),
  collections: collections(),
  freshness: Type.Object({
    state: oneOf(weatherFreshnessStates),
    newest_observation_end: nullable(Type.String()),
    newest_complete_observation_end: nullable(Type.String()),
    age_seconds: nullable(Type.Number()),
    max_age_seconds: measure(),
    basis: Type.String(),
  }),
  measures: Type.String(),
  does_not_measure: Type.Array(Type.String()),
  caveats: Type.Optional(Type.Array(Type.String())),
});

/** Almanac's weather summary, as read from an artifact. The weather instrument also writes objects of this type. */
export type WeatherSummary = Type.Static<typeof WeatherSummarySchema>;

/** Checks an artifact whose `schema` is that of Almanac's weather summary. */
export const checkWeatherSummary = check(WeatherSummarySchema);

/** Schema `weatherwatch.summary/v2`: the artifact of the legacy weather observatory. */

/**
 * Schema of a time in seconds since 1970, up to the end of the year 9999: a later time has no RFC 3339 representation.
 */
const unixSeconds = () => Type.Integer({ minimum: 0, maximum: 253_402_300_799 });

const WeatherwatchSummarySchema = Type.Object({
  schema: Type.Literal('weatherwatch.summary/v2'),
  generated_at: anyTime(),
  source_endpoint: Type.String(),
  measures: Type.String(),
  does_not_measure: Type.Array(Type.String()),
  interval: Type.Object({
    first_bucket_start: nullable(unixSeconds()),
    last_bucket_end: nullable(unixSeconds()),
    span_seconds: measure(),
    observed_seconds: measure(),
    coverage_ratio: nullable(measure()),
  }),
  conditions: nullable(Conditions()),
  metrics: collections(),
  total_events: Type.Object({ total: count(), mean_rate_per_s: nullable(measure()) }),
  freshness: Type.Object({
    state: oneOf(weatherFreshnessStates),
    newest_observation_end: Type.Optional(nullable(Type.String())),
    newest_complete_observation_end: Type.Optional(nullable(Type.String())),
    age_seconds: Type.Optional(nullable(Type.Number())),
    current_threshold_seconds: Type.Optional(nullable(measure())),
    basis: Type.Optional(nullable(Type.String())),
  }),
});

/** The published parts of the weatherwatch summary. */
export type WeatherwatchSummary = Type.Static<typeof WeatherwatchSummarySchema>;

/** Checks an artifact whose `schema` is `weatherwatch.summary/v2`. */
export const checkWeatherwatchSummary = check(WeatherwatchSummarySchema);
