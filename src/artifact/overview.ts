import Type from 'typebox';
import { maxTopLabelers } from '../contract/limits.ts';
import { acquisitionBases, adequacies, origins } from '../contract/vocabulary.ts';
import { anyTime, check, count, labelerDid, measure, nullable, oneOf, usableInstant, uuidText } from './schema.ts';

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

/** Checks an artifact whose `schema` is that of Almanac's label overview. */
export const checkRecentOverview = check(RecentOverviewSchema);

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
        adequacy: Type.Unsafe<(typeof adequacies)[number]>({ type: 'string', enum: [...adequacies] }),
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

/** Checks an artifact that has the `schema_version` of the legacy producer. */
export const checkLegacyOverview = check(LegacyOverviewSchema);
