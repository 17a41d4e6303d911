import {
  count,
  day,
  fields,
  flag,
  floorDivide,
  inOrder,
  instant,
  type Json,
  type JsonObject,
  labelerDid,
  list,
  nullOr,
  object,
  optional,
  positive,
  type Reading,
  text,
  time,
  timeOrNull,
  uuid,
  word,
  wordOrUnknown,
} from './values.ts';

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
  const hold = artifact.hold === undefined ? false : flag(artifact.hold);
  const origin = artifact.origin === undefined ? 'live' : word(['live', 'simulated', 'sample'])(artifact.origin);
  const windowDays = positive(artifact.window_days);
  const coverage = coverageOf(object(artifact.coverage), windowDays, artifact.generated_at);
  return {
    schema: 'recent',
    generatedAt: artifact.generated_at,
    origin,
    provenance: {
      instrument: 'labels',
      method: 'label_stream_and_poll',
      artifact_schema_version: 'labels.recent-overview.v1',
      origin,
      does_not_measure: list(artifact.does_not_measure, text),
    },
    facts: {
      '/v1/labels/overview': {
        labeler_count: count(artifact.labeler_count),
        alert_count_total: null,
        alert_count_window: null,
        top_labelers_7d: topLabelers(artifact.top_labelers_7d),
        window_days: windowDays,
        acquisition: fields<Json>(object(artifact.acquisition), {
          generation_id: uuid,
          started_at: time,
          basis: word(['local_acceptance_clock']),
        }),
        coverage,
        counts: fields<Json>(object(artifact.counts), {
          events_24h: count,
          events_7d: count,
          events_window: count,
          labelers_active_7d: count,
          labelers_active_window: count,
        }),
        current_label_state: 'unknown',
      },
    },
    caveats: list(artifact.caveats, text),
    label: {
      hold,
      warming: coverage.warmup !== null || Number(coverage.observed_days) < windowDays,
      observedThrough: object(artifact.coverage).observed_through,
    },
    freshness: null,
  };
}

export function topLabelers(value: Json | undefined): Json[] {
  return list(value, (item) => fields<Json>(object(item), { labeler_did: labelerDid, count }));
}

function gap(value: Json | undefined): JsonObject {
  const found = fields<Json>(object(value), { start: time, end: time, reason: wordOrUnknown(reasons) });
  inOrder(instant(found.start), instant(found.end));
  return found;
}

function coverageOf(from: JsonObject, windowDays: number, generatedAt: Json | undefined): JsonObject {
  const listed = list(from.gaps, gap);
  const overflow = flag(from.gap_overflow) || listed.length > maxGaps;
  const warmup = nullOr(gap)(from.warmup);
  const sources = fields<Json>(object(from.sources), {
    ...Object.fromEntries(required.map((name) => [name, count])),
    seeded: optional(count) as typeof count,
    discovered: optional(count) as typeof count,
    future_skipped: optional(count) as typeof count,
  });
  const claimed = wordOrUnknown(statuses)(from.status);
  return {
    status: weaker(claimed, [
      unknownSources.some((name) => sources[name] !== 0) && 'unknown',
      sources.enrolled === 0 && claimed === 'no_recorded_gaps' && 'unknown',
      overflow && claimed === 'no_recorded_gaps' && 'unknown',
      warmup !== null && 'warming_up',
      (overflow || listed.length > 0) && 'gapped',
    ]),
    observed_days: Math.min(count(from.observed_days), windowDays),
    observed_through: timeOrNull(from.observed_through),
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
  const end = instant(generatedAt);
  if (end === null) return [];
  const start = floorDivide(end - BigInt(windowDays) * day, 1_000_000n) * 1_000_000n;
  return [{ start: `@${start}`, end: `@${end}`, reason: 'unknown' }];
}
