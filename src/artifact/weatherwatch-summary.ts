import Type from 'typebox';
import { weatherFreshnessStates } from '../contract/vocabulary.ts';
import { anyTime, check, count, measure, nullable, oneOf } from './schema.ts';
import { Conditions, collections } from './weather-summary.ts';

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
