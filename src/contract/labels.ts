import Type from 'typebox';
import { maxGaps, maxTopLabelers } from './limits.ts';
import { closed, count, labelerDid, measure, orNull, timestamp, word } from './schema.ts';
import {
  acquisitionBases,
  adequacies,
  type CensusMap,
  censusKeys,
  coverageStatuses,
  gapReasons,
  networkSignals,
} from './vocabulary.ts';

/** Part of the window that was not observed; start inclusive, end exclusive. */
export const Gap = closed(
  {
    start: timestamp('Start, inclusive.'),
    end: timestamp('End, exclusive.'),
    reason: word(gapReasons, 'Why it was not observed.'),
  },
  { title: 'Gap', description: 'A part of the window that was not observed.' },
);
export type Gap = Type.Static<typeof Gap>;

/** Numbers of label sources (contract, `sources` fields). */
export const CoverageSources = closed(
  {
    enrolled: count('All enrolled sources: seeded and discovered.'),
    seeded: Type.Optional(count("Sources from the epoch's initial roster seed. Absent when unknown.")),
    discovered: Type.Optional(count('Sources enrolled later by discovery. Absent when unknown.')),
    unstarted: count('Sources not yet requested: unknown coverage, never quiet.'),
    probing: count('Sources being probed: unknown coverage, never quiet.'),
    refused: count('Sources that refuse to be read: unknown coverage, never quiet.'),
    established: count('Sources positioned at the epoch; not proof of completeness.'),
    pre_epoch_skipped: count('Rows not stored because they were authored before the epoch.'),
    undated_skipped: count('Rows not stored because they had no usable authored date.'),
    late_skipped: count('Rows authored more than 48 h before acceptance.'),
    future_skipped: Type.Optional(
      count('Rows authored too far in the future. Present when the instrument exposes it.'),
    ),
    cursor_order_unverified: count('Sources whose page order could not be verified: unknown coverage.'),
    undated_only: count('Sources that yielded only undated rows: unknown coverage.'),
    provider_rejects: count('Sources whose provider rejected requests: unknown coverage.'),
    unavailable: count('Sources that currently fail transiently and are retried with backoff.'),
  },
  { title: 'CoverageSources', description: 'Numbers of label sources by state, and of rows that were not stored.' },
);
export type CoverageSources = Type.Static<typeof CoverageSources>;

/** Coverage of the rolling epoch. */
export const Coverage = closed(
  {
    status: word(
      coverageStatuses,
      'no_recorded_gaps does not prove complete source coverage; unknown: the collector cannot establish coverage.',
    ),
    observed_days: count('Whole days of the window observed since acquisition.started_at.'),
    observed_through: orNull(timestamp('Instant.'), 'The latest accepted collector page.'),
    warmup: Type.Union([Gap, Type.Null()], {
      description: 'The part of the window before acquisition began; null once the window lies inside the epoch.',
    }),
    gaps: Type.Array(Gap, { maxItems: maxGaps, description: 'Recorded interruptions inside the window.' }),
    gap_overflow: Type.Boolean({
      description: 'More gaps were recorded than can be listed: the whole window is then one unknown gap.',
    }),
    sources: CoverageSources,
  },
  { title: 'Coverage', description: 'What part of the window was observed, and of how many sources.' },
);
export type Coverage = Type.Static<typeof Coverage>;

/** Counts of observed events in the rolling epoch. */
export const LabelCounts = closed(
  {
    events_24h: count('Observed application and removal events, last 24 hours.'),
    events_7d: count('Observed application and removal events, last 7 days.'),
    events_window: count('Observed application and removal events, whole window.'),
    labelers_active_7d: count('Labelers with at least one observation in the last 7 days.'),
    labelers_active_window: count('Labelers with at least one observation in the window.'),
  },
  { title: 'LabelCounts', description: 'Counts of observed events, which are never estimates of what occurred.' },
);

const TopLabelers = Type.Array(
  closed({ labeler_did: labelerDid(), count: count('Observed events (legacy producer: alerts) over 7 days.') }),
  { maxItems: maxTopLabelers, description: 'Highest-volume labelers over 7 days.' },
);

/** Start of the epoch on the local acceptance clock. No earlier event was observed. */
export const Acquisition = closed(
  {
    generation_id: Type.String({ format: 'uuid', description: "Identifier of the epoch's store." }),
    started_at: timestamp('Start of the epoch, which observed nothing before this time.'),
    basis: word(acquisitionBases, 'The clock that started_at was read from.'),
  },
  { title: 'Acquisition', description: 'The start of the epoch; no earlier event was observed.' },
);

/** Facts of the rolling epoch (`labels.recent-overview.v1`). */
export const RecentLabelFacts = closed(
  {
    labeler_count: count('Labelers with at least one observation in the current window.'),
    alert_count_total: Type.Null({
      deprecated: true,
      description: 'Always null: the rolling epoch runs no alert pipeline.',
    }),
    alert_count_window: Type.Null({ description: 'Always null: the rolling epoch runs no alert pipeline.' }),
    top_labelers_7d: TopLabelers,
    window_days: Type.Integer({ minimum: 1, description: 'Length of the rolling window in days.' }),
    acquisition: Acquisition,
    coverage: Coverage,
    counts: LabelCounts,
    current_label_state: Type.Literal('unknown', {
      description: 'Always unknown: observed applications and removals do not establish whether a label is active.',
    }),
  },
  {
    title: 'RecentLabelFacts',
    description: 'Facts of the rolling epoch, which the label instrument of this project observes.',
  },
);
export type RecentLabelFacts = Type.Static<typeof RecentLabelFacts>;

const alertsByRule = (span: string) =>
  Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), count('Alerts.'), {
      description: `Alert counts by rule, last ${span}. A rule that is not listed was not triggered, or its name is not one that is published.`,
    }),
  );

function censusMap(map: CensusMap, description: string) {
  const properties: Record<string, Type.TOptional<Type.TInteger>> = {};
  for (const key of censusKeys[map]) properties[key] = Type.Optional(count(`Labelers of the class ${key}.`));
  return Type.Unsafe<Record<string, number>>(closed(properties, { description }));
}

/** Adequacy of the legacy observation, which qualifies every fact of the reading. */
export const LegacyObservation = closed(
  {
    adequacy: word(adequacies, 'Whether the window supports a claim that something did not happen.'),
    reason: Type.String({ description: 'The adequacy in words, with numerator and denominator.' }),
    window_minutes: count('Length of the adequacy window, in minutes.'),
    coverage_threshold: measure('Minimum fraction of successful attempts for a labeler to count as adequate.'),
    labelers_attempted: count('Labelers with at least one attempt in the window.'),
    labelers_adequate: count('Attempted labelers at or above the threshold.'),
    labelers_degraded: count('Attempted labelers below the threshold.'),
    labelers_accessible: count('Labelers whose endpoint is accessible.'),
    labelers_unattempted: count('Accessible labelers that were not attempted.'),
    attempts: count('Attempts in the window.'),
    successes: count('Attempts that were answered, empty answers included.'),
    last_attempt_ts: orNull(timestamp('Instant.'), 'Time of the last attempt in the window.'),
    last_success_ts: orNull(timestamp('Instant.'), 'Time of the last successful attempt, in or before the window.'),
  },
  {
    title: 'LegacyObservation',
    description: 'Adequacy of the legacy observation, which qualifies every fact of the reading.',
  },
);

/** Signals of the legacy producer. `calm` requires adequate observation. */
export const NetworkWeather = closed(
  {
    signals: Type.Array(word(networkSignals, 'A signal.'), {
      description: 'The signals that fired; empty if observation was adequate and no known signal fired.',
    }),
    attribution: Type.String({ description: 'Why each signal fired, in words.' }),
    supports_negative_claim: Type.Boolean({
      description: 'False if the window does not support a claim that something did not happen.',
    }),
  },
  { title: 'NetworkWeather', description: 'Signals of the legacy producer; `calm` requires adequate observation.' },
);

/** Facts of the legacy producer (schema 23). */
export const LegacyLabelFacts = closed(
  {
    labeler_count: count('Known labelers.'),
    alert_count_total: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      deprecated: true,
      description: 'All alerts ever recorded.',
    }),
    alert_count_window: orNull(
      count('Alerts.'),
      'Alerts of the last 7 days; null when the artifact does not record them.',
    ),
    alerts_by_rule_24h: alertsByRule('24 hours'),
    alerts_by_rule_7d: alertsByRule('7 days'),
    census: closed(
      {
        visibility_class: censusMap('visibility_class', 'How each labeler came to be known.'),
        reachability_state: censusMap('reachability_state', "State of each labeler's endpoint."),
        classification_confidence: censusMap('classification_confidence', 'Confidence of the classification.'),
        auditability: censusMap('auditability', 'How well each labeler can be audited.'),
      },
      { description: 'Distribution of labelers.' },
    ),
    network_weather: NetworkWeather,
    observation: Type.Optional(LegacyObservation),
    heartbeats: closed(
      {
        discovery: orNull(timestamp('Instant.'), 'Last successful discovery.'),
        ingest: orNull(timestamp('Instant.'), 'Last successful ingest.'),
        scan: orNull(timestamp('Instant.'), 'Last successful scan.'),
        report: orNull(timestamp('Instant.'), 'Last successful report.'),
      },
      { description: "Last successes of the producer's jobs." },
    ),
    top_labelers_7d: TopLabelers,
    window_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Length of the window of the producer, in days. Absent if the artifact does not declare it.',
      }),
    ),
    current_label_state: Type.Literal('unknown', {
      description: 'Always unknown: observed applications and removals do not establish whether a label is active.',
    }),
  },
  { title: 'LegacyLabelFacts', description: 'Facts of the legacy producer (schema 23).' },
);
export type LegacyLabelFacts = Type.Static<typeof LegacyLabelFacts>;
