import Type from 'typebox';
import { maxTopLabelers } from '../contract/limits.ts';
import { acquisitionBases, origins } from '../contract/vocabulary.ts';
import { anyTime, anyWord, check, count, labelerDid, nullable, oneOf, usableInstant, uuidText } from './schema.ts';

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
