import type { LabelArtifact, LegacyOverview, RecentOverview } from '../artifact/recognise.ts';
import type { LabelProvenance, LabelsOverview } from '../contract/envelope.ts';
import type { Coverage, CoverageSources, Gap, LegacyLabelFacts, RecentLabelFacts } from '../contract/labels.ts';
import { maxGaps } from '../contract/limits.ts';
import { formatTimestamp, parseTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import {
  type CensusMap,
  type CoverageStatus,
  censusKeys,
  coverageStatuses,
  type GapReason,
  gapReasons,
  networkSignals,
  type SignalWord,
} from '../contract/vocabulary.ts';

import { caveatsOfOrigin } from './shown-facts.ts';

/**
 * Projects either label artifact to its published parts. Only the fields that are named in this file are published. The
 * caveats are: the caveat of an origin other than `live`, the fixed ones, which state what the instrument cannot observe
 * in principle, and the artifact's own.
 */
export function projectLabels(artifact: LabelArtifact): Pick<LabelsOverview, 'facts' | 'caveats' | 'provenance'> {
  if (artifact.schema === '23') {
    return {
      facts: projectLegacyLabels(artifact.overview),
      caveats: [...labelCaveats.legacy],
      provenance: { instrument: 'labels', method: 'legacy_label_poll', artifact_schema_version: '23' },
    };
  }
  const { overview } = artifact;
  return {
    facts: projectRecentLabels(overview),
    caveats: [...caveatsOfOrigin(overview.origin ?? 'live'), ...labelCaveats.recent, ...overview.caveats],
    provenance: recentLabelProvenance(overview),
  };
}

const labelCaveats = {
  recent: [
    'Observed application and removal events do not establish which labels are active now.',
    'Having no observations does not mean that no labels exist.',
    'Windows run on the local acceptance clock: nothing before acquisition.started_at was observed.',
    'The absence of recorded gaps does not prove complete source coverage.',
  ],
  legacy: [
    'Observed application and removal events do not establish which labels are active now.',
    'Having no observations does not mean that no labels exist.',
    'A quiet result with supports_negative_claim false means that too little was observed to conclude that nothing happened.',
    'top_labelers_7d ranks labelers by alerts, not by label volume: this producer counts alerts.',
  ],
} as const;

/** Projects `labels.recent-overview.v1` to the published facts. */
function projectRecentLabels(overview: RecentOverview): RecentLabelFacts {
  const { acquisition, counts } = overview;
  return {
    labeler_count: overview.labeler_count,
    alert_count_total: null,
    alert_count_window: null,
    top_labelers_7d: overview.top_labelers_7d.map(({ labeler_did, count }) => ({ labeler_did, count })),
    window_days: overview.window_days,
    acquisition: {
      generation_id: acquisition.generation_id,
      started_at: acquisition.started_at,
      basis: acquisition.basis,
    },
    coverage: projectCoverage(overview),
    counts: {
      events_24h: counts.events_24h,
      events_7d: counts.events_7d,
      events_window: counts.events_window,
      labelers_active_7d: counts.labelers_active_7d,
      labelers_active_window: counts.labelers_active_window,
    },
    current_label_state: 'unknown',
  };
}

/** Returns the provenance of the facts of the rolling epoch. */
export function recentLabelProvenance(overview: RecentOverview): LabelProvenance {
  return {
    instrument: 'labels',
    method: 'label_stream_and_poll',
    artifact_schema_version: 'labels.recent-overview.v1',
    origin: overview.origin ?? 'live',
    does_not_measure: overview.does_not_measure.slice(),
  };
}

function projectCoverage(overview: RecentOverview): Coverage {
  const { coverage } = overview;
  const overflow = coverage.gap_overflow || coverage.gaps.length > maxGaps;
  return {
    status: weakerStatus(coverage, overflow),
    observed_days: Math.min(coverage.observed_days, overview.window_days),
    observed_through: usableTimestamp(coverage.observed_through),
    warmup: coverage.warmup && gap(coverage.warmup),
    gaps: overflow ? [wholeWindow(overview)] : coverage.gaps.map(gap),
    gap_overflow: overflow,
    sources: projectSources(coverage.sources),
  };
}

function projectSources(sources: RecentOverview['coverage']['sources']): CoverageSources {
  return {
    enrolled: sources.enrolled,
    ...(sources.seeded === undefined ? {} : { seeded: sources.seeded }),
    ...(sources.discovered === undefined ? {} : { discovered: sources.discovered }),
    unstarted: sources.unstarted,
    probing: sources.probing,
    refused: sources.refused,
    established: sources.established,
    pre_epoch_skipped: sources.pre_epoch_skipped,
    undated_skipped: sources.undated_skipped,
    late_skipped: sources.late_skipped,
    ...(sources.future_skipped === undefined ? {} : { future_skipped: sources.future_skipped }),
    cursor_order_unverified: sources.cursor_order_unverified,
    undated_only: sources.undated_only,
    provider_rejects: sources.provider_rejects,
    unavailable: sources.unavailable,
  };
}

function gap({ start, end, reason }: { start: string; end: string; reason: string }): Gap {
  return { start, end, reason: reasonWord(reason) };
}

/** Earliest instant that RFC 3339 can represent, 0001-01-01, in milliseconds since 1970. */
const earliest = -62_135_596_800_000;

/**
 * Returns one gap that covers the whole window; it replaces gaps that are too many to list. Throws if the overview has
 * no valid `generated_at`.
 */
function wholeWindow({ generated_at, window_days }: RecentOverview): Gap {
  const end = parseTimestamp(generated_at);
  if (end === null || typeof generated_at !== 'string')
    throw new Error('an artifact without a valid generated_at must not be projected');
  const start = formatTimestamp(Math.max(earliest, Math.floor(end / 1000) - window_days * 86_400_000));
  return { start, end: generated_at, reason: 'unknown' };
}

/** Returns true if any source has a state of unknown coverage (contract, `coverage.status`). */
function hasUnknownCoverage(sources: RecentOverview['coverage']['sources']): boolean {
  const unknown = [
    sources.unstarted,
    sources.probing,
    sources.refused,
    sources.cursor_order_unverified,
    sources.undated_only,
    sources.provider_rejects,
    sources.unavailable,
  ];
  return unknown.some((count) => count > 0);
}

/**
 * Returns the artifact's coverage status, or a weaker status if other fields of the artifact require it. A source with
 * unknown coverage makes the status `unknown`. `no_recorded_gaps` requires an enrolled source, and no gap, warm-up or
 * overflow of gaps.
 */
function weakerStatus(coverage: RecentOverview['coverage'], overflow: boolean): CoverageStatus {
  const stated = statusWord(coverage.status);
  if (stated === 'unknown' || hasUnknownCoverage(coverage.sources)) return 'unknown';
  if (stated === 'no_recorded_gaps' && (overflow || coverage.sources.enrolled === 0)) return 'unknown';
  if (stated === 'warming_up' || coverage.warmup !== null) return 'warming_up';
  return coverage.gaps.length > 0 ? 'gapped' : stated;
}

function statusWord(word: string): CoverageStatus {
  return coverageStatuses.find((known) => known === word) ?? 'unknown';
}

function reasonWord(word: string): GapReason {
  return gapReasons.find((known) => known === word) ?? 'unknown';
}

/** Projects the legacy label overview (schema 23) to the published facts, field by field. */
function projectLegacyLabels(overview: LegacyOverview): LegacyLabelFacts {
  const { alerts_by_rule_24h: rules24h, alerts_by_rule_7d: rules7d, census, heartbeats } = overview;
  return {
    labeler_count: overview.labeler_count,
    alert_count_total: overview.alert_count,
    alert_count_window: rules7d === undefined ? null : sum(rules7d),
    ...(rules24h === undefined ? {} : { alerts_by_rule_24h: knownRules(rules24h) }),
    ...(rules7d === undefined ? {} : { alerts_by_rule_7d: knownRules(rules7d) }),
    census: {
      visibility_class: censusMap('visibility_class', census.visibility_class),
      reachability_state: censusMap('reachability_state', census.reachability_state),
      classification_confidence: censusMap('classification_confidence', census.classification_confidence),
      auditability: censusMap('auditability', census.auditability),
    },
    network_weather: networkWeather(overview),
    ...(overview.observation ? { observation: observation(overview.observation) } : {}),
    heartbeats: {
      discovery: usableTimestamp(heartbeats.last_discovery_ok_ts),
      ingest: usableTimestamp(heartbeats.last_ingest_ok_ts),
      scan: usableTimestamp(heartbeats.last_scan_ok_ts),
      report: usableTimestamp(heartbeats.last_report_ok_ts),
    },
    top_labelers_7d: overview.top_labelers_7d.map(({ labeler_did, count }) => ({ labeler_did, count })),
    ...(overview.window_days === undefined ? {} : { window_days: overview.window_days }),
    current_label_state: 'unknown',
  };
}

/**
 * Returns the published signals, their attribution, and whether they support a negative claim. Without adequate
 * observation, `calm` is removed, the adequacy word is added if it is missing, and no negative claim is supported,
 * whatever the artifact states. Other known signals are kept, and unknown ones are dropped. If no signal remains, no
 * negative claim is supported either. An attribution that may explain a removed `calm` is replaced by a fixed sentence.
 */
function networkWeather({
  network_weather: weather,
  observation,
}: LegacyOverview): LegacyLabelFacts['network_weather'] {
  const adequacy = observation?.adequacy ?? 'unobserved';
  const adequacyWord: SignalWord = adequacy === 'unobserved' ? 'unobserved' : 'under-observed';
  // An artifact with the signal `under-observed` or `unobserved` counts as inadequate, whatever its adequacy field
  // states.
  const standing = adequacy === 'adequate' && !weather.signals.some((word) => adequacySignals.includes(word));
  const known = networkSignals.filter((word) => weather.signals.includes(word));
  const kept = inArtifactOrder(known, weather.signals).filter((word) => standing || word !== 'calm');
  const qualified = adequacy !== 'adequate' && !kept.includes(adequacyWord);
  return {
    signals: qualified ? [...kept, adequacyWord] : kept,
    attribution: kept.length < known.length ? calmRemoved : weather.attribution,
    supports_negative_claim: standing && kept.length > 0 && weather.supports_negative_claim,
  };
}

/** Attribution that replaces the producer's attribution if `calm` was removed. */
export const calmRemoved =
  'The producer reported calm, but its observation was not adequate for that: too little was observed to say that nothing happened.';

const adequacySignals: readonly string[] = ['under-observed', 'unobserved'];

function inArtifactOrder(words: readonly SignalWord[], order: readonly string[]): SignalWord[] {
  return words.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

function observation(seen: NonNullable<LegacyOverview['observation']>): NonNullable<LegacyLabelFacts['observation']> {
  return {
    adequacy: seen.adequacy,
    reason: seen.reason,
    window_minutes: seen.window_minutes,
    coverage_threshold: seen.coverage_threshold,
    labelers_attempted: seen.labelers_attempted,
    labelers_adequate: seen.labelers_adequate,
    labelers_degraded: seen.labelers_degraded,
    labelers_accessible: seen.labelers_accessible,
    labelers_unattempted: seen.labelers_unattempted,
    attempts: seen.attempts,
    successes: seen.successes,
    last_attempt_ts: usableTimestamp(seen.last_attempt_ts),
    last_success_ts: usableTimestamp(seen.last_success_ts),
  };
}

const ruleName = /^[a-z][a-z0-9_]{0,63}$/;

function knownRules(rules: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(rules).filter(([name]) => ruleName.test(name)));
}

/** Returns the total number of alerts, including those of rules whose names are not published. */
function sum(rules: Record<string, number>): number {
  return Object.values(rules).reduce((total, count) => total + count, 0);
}

function censusMap(map: CensusMap, counts: Record<string, number>): Record<string, number> {
  const vocabulary: readonly string[] = censusKeys[map];
  const known: Record<string, number> = {};
  for (const [key, count] of Object.entries(counts)) {
    const published = vocabulary.includes(key) ? key : 'unknown';
    known[published] = (known[published] ?? 0) + count;
  }
  return known;
}
