import Type from 'typebox';
import { maxTopLabelers } from '../contract/limits.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import {
  acquisitionBases,
  adequacies,
  type CensusMap,
  type CollectionName,
  censusKeys,
  collectionNames,
  conditionStates,
  confidences,
  origins,
  weatherFreshnessStates,
  wires,
} from '../contract/vocabulary.ts';
import { isObject } from '../input/json-budget.ts';
import {
  anyTime,
  type Check,
  check,
  count,
  labelerDid,
  measure,
  nullable,
  oneOf,
  own,
  usableInstant,
  uuidText,
} from '../input/schema.ts';
import type { Malformed, Recognised, UnknownSchema } from './reading.ts';

/**
 * The artifacts of both instruments and their schemas. Each instrument has two known producers, whose artifacts are
 * distinguished by their content alone.
 */

/** An artifact of the label instrument: Almanac's or the legacy producer's. */
export type LabelArtifact =
  | { readonly schema: 'labels.recent-overview.v1'; readonly overview: RecentOverview }
  | { readonly schema: '23'; readonly overview: LegacyOverview };

/** An artifact of the weather instrument: Almanac's or weatherwatch's. */
export type WeatherArtifact =
  | { readonly schema: 'weather.summary.v1'; readonly summary: WeatherSummary }
  | { readonly schema: 'weatherwatch.summary/v2'; readonly summary: WeatherwatchSummary };

/** Detects the producer of a label artifact and checks the artifact against its schema. */
export function recogniseLabels(value: unknown): Recognised<LabelArtifact> {
  if (!isObject(value)) return unknownSchema();
  const schema = own(value, 'schema');
  if (schema === 'labels.recent-overview.v1') {
    return narrowed(schema, checkRecentOverview, value, invertedInterval, (overview) => ({ schema, overview }));
  }
  if (schema === undefined && own(value, 'schema_version') === 23) {
    return narrowed('23', checkLegacyOverview, value, overflowing, (overview) => ({ schema: '23', overview }));
  }
  return unknownSchema();
}

/** Detects the producer of a weather artifact and checks the artifact against its schema. */
export function recogniseWeather(value: unknown): Recognised<WeatherArtifact> {
  if (!isObject(value)) return unknownSchema();
  const schema = own(value, 'schema');
  if (schema === 'weather.summary.v1') {
    return narrowed(schema, checkWeatherSummary, value, invertedWindow, (summary) => ({ schema, summary }));
  }
  if (schema === 'weatherwatch.summary/v2') {
    return narrowed(schema, checkWeatherwatchSummary, value, invertedUnixInterval, (summary) => ({ schema, summary }));
  }
  return unknownSchema();
}

type Fault = Pick<Malformed, 'pointer' | 'why'>;

function narrowed<T, A>(
  schema: string,
  check: Check<T>,
  value: Record<string, unknown>,
  faultOf: (value: T) => Fault | null,
  as: (value: T) => A,
): Recognised<A> {
  const checked = check(value);
  if (!checked.ok) return { kind: 'malformed', schema, pointer: checked.pointer, why: checked.why };
  const fault = faultOf(checked.value);
  if (fault) return { kind: 'malformed', schema, pointer: fault.pointer, why: fault.why };
  return { kind: 'recognised', artifact: as(checked.value) };
}

function unknownSchema(): UnknownSchema {
  return { kind: 'unknown_schema', why: 'the schema is not known for this instrument' };
}

/** Returns an error if the interval ends before it starts or has an invalid time; otherwise null. */
function inverted(interval: { start: string; end: string }, pointer: string): Fault | null {
  const start = parseTimestamp(interval.start);
  const end = parseTimestamp(interval.end);
  if (start !== null && end !== null && start <= end) return null;
  return { pointer, why: 'ends before it starts' };
}

function invertedInterval({ coverage }: RecentOverview): Fault | null {
  const warmup = coverage.warmup && inverted(coverage.warmup, '/coverage/warmup');
  if (warmup) return warmup;
  for (const [index, gap] of coverage.gaps.entries()) {
    const fault = inverted(gap, `/coverage/gaps/${index}`);
    if (fault) return fault;
  }
  return null;
}

function invertedWindow({ window }: WeatherSummary): Fault | null {
  return inverted(window, '/window');
}

function invertedUnixInterval({ interval }: WeatherwatchSummary): Fault | null {
  const { first_bucket_start: start, last_bucket_end: end } = interval;
  return start !== null && end !== null && end < start ? { pointer: '/interval', why: 'ends before it starts' } : null;
}

const censusMaps = Object.keys(censusKeys) as CensusMap[];

/**
 * Returns an error if a published sum is too large for a count: the sum of the alerts of all rules in 7 days, or of all
 * keys of a census map.
 */
function overflowing({ alerts_by_rule_7d: rules = {}, census }: LegacyOverview): Fault | null {
  const sums: [string, Record<string, number>][] = [['/alerts_by_rule_7d', rules]];
  for (const map of censusMaps) sums.push([`/census/${map}`, census[map]]);
  const over = sums.find(
    ([, counts]) => Object.values(counts).reduce((sum, count) => sum + count, 0) > Number.MAX_SAFE_INTEGER,
  );
  return over ? { pointer: over[0], why: 'adds up to more than 2^53-1' } : null;
}

/** Schema of an open vocabulary: an unknown value is dropped or published as `unknown`. */
const anyWord = () => Type.String();

/** Schema `labels.recent-overview.v1`: the artifact of Almanac's label instrument. */

const Interruption = Type.Object({ start: usableInstant(), end: usableInstant(), reason: anyWord() });

const Sources = Type.Object({
  enrolled: count(),
  seeded: Type.Optional(count()),
  discovered: Type.Optional(count()),
  unstarted: count(),
  probing: count(),
  refused: count(),
  established: count(),
  pre_epoch_skipped: count(),
  undated_skipped: count(),
  late_skipped: count(),
  future_skipped: Type.Optional(count()),
  cursor_order_unverified: count(),
  undated_only: count(),
  provider_rejects: count(),
  unavailable: count(),
});

const RecentOverviewSchema = Type.Object({
  schema: Type.Literal('labels.recent-overview.v1'),
  generated_at: anyTime(),
  hold: Type.Optional(Type.Boolean()),
  origin: Type.Optional(oneOf(origins)),
  window_days: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  acquisition: Type.Object({
    generation_id: uuidText(),
    started_at: usableInstant(),
    basis: oneOf(acquisitionBases),
  }),
  coverage: Type.Object({
    status: anyWord(),
    observed_days: count(),
    observed_through: anyTime(),
    warmup: nullable(Interruption),
    gaps: Type.Array(Interruption),
    gap_overflow: Type.Boolean(),
    sources: Sources,
  }),
  counts: Type.Object({
    events_24h: count(),
    events_7d: count(),
    events_window: count(),
    labelers_active_7d: count(),
    labelers_active_window: count(),
  }),
  labeler_count: count(),
  top_labelers_7d: Type.Array(Type.Object({ labeler_did: labelerDid(), count: count() }), {
    maxItems: maxTopLabelers,
  }),
  does_not_measure: Type.Array(Type.String()),
  caveats: Type.Array(Type.String()),
});

/** Almanac's label overview, as read from an artifact. `status` and `reason` may have unknown values. */
export type RecentOverview = Type.Static<typeof RecentOverviewSchema>;

const checkRecentOverview = check(RecentOverviewSchema);

/** Schema of the legacy observatory's label overview, which has `schema_version: 23` and no `schema`. */

const censusMap = () => Type.Record(Type.String(), count());

const LegacyOverviewSchema = Type.Object({
  schema_version: Type.Literal(23),
  generated_at: anyTime(),
  hold: Type.Optional(Type.Boolean()),
  window_days: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  labeler_count: count(),
  alert_count: count(),
  alerts_by_rule_24h: Type.Optional(Type.Record(Type.String(), count())),
  alerts_by_rule_7d: Type.Optional(Type.Record(Type.String(), count())),
  census: Type.Object({
    visibility_class: censusMap(),
    reachability_state: censusMap(),
    classification_confidence: censusMap(),
    auditability: censusMap(),
  }),
  network_weather: Type.Object({
    signals: Type.Array(anyWord()),
    attribution: Type.String(),
    supports_negative_claim: Type.Boolean(),
  }),
  observation: Type.Optional(
    // Some producers write null instead of omitting the field.
    nullable(
      Type.Object({
        adequacy: oneOf(adequacies),
        reason: Type.String(),
        window_minutes: count(),
        coverage_threshold: measure(),
        labelers_attempted: count(),
        labelers_adequate: count(),
        labelers_degraded: count(),
        labelers_accessible: count(),
        labelers_unattempted: count(),
        attempts: count(),
        successes: count(),
        last_attempt_ts: anyTime(),
        last_success_ts: anyTime(),
      }),
    ),
  ),
  heartbeats: Type.Object({
    last_discovery_ok_ts: anyTime(),
    last_ingest_ok_ts: anyTime(),
    last_scan_ok_ts: anyTime(),
    last_report_ok_ts: anyTime(),
  }),
  top_labelers_7d: Type.Array(Type.Object({ labeler_did: labelerDid(), count: count() }), {
    maxItems: maxTopLabelers,
  }),
});

/** Published parts of the legacy label overview. */
export type LegacyOverview = Type.Static<typeof LegacyOverviewSchema>;

const checkLegacyOverview = check(LegacyOverviewSchema);

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

const checkWeatherwatchSummary = check(WeatherwatchSummarySchema);
