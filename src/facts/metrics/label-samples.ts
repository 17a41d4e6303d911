import type { LabelsOverview } from '../../contract/envelope.ts';
import type { CoverageSources } from '../../contract/labels.ts';
import { adequacies, coverageStatuses } from '../../contract/vocabulary.ts';
import { isLegacy, isRecent, type LegacyEnvelope, type RecentEnvelope } from '../page/model.ts';
import { families } from './families.ts';
import type { Dimensions, MetricSamples } from './open-metrics.ts';
import { unixSeconds } from './weather-samples.ts';

const daySeconds = 86_400;

/** Adds the samples of a label overview. */
export function addLabels(samples: MetricSamples, envelope: LabelsOverview, origin: Dimensions): void {
  const { freshness } = envelope;
  samples.addState(families.labelFreshness, origin, ['fresh', 'warming_up'], freshness.state);
  samples.add(families.labelMaxAge, origin, freshness.max_age_seconds);
  samples.add(families.collectionAge, origin, freshness.collection_age_seconds);
  if (isRecent(envelope)) addRecent(samples, envelope, origin);
  else if (isLegacy(envelope)) addLegacy(samples, envelope, origin);
}

function addRecent(samples: MetricSamples, { facts }: RecentEnvelope, origin: Dimensions): void {
  const { counts, coverage } = facts;
  samples.add(families.labelEvents, { ...origin, span: '24h' }, counts.events_24h);
  samples.add(families.labelEvents, { ...origin, span: '7d' }, counts.events_7d);
  samples.add(families.labelEvents, { ...origin, span: 'window' }, counts.events_window);
  samples.add(families.activeLabelers, { ...origin, span: '7d' }, counts.labelers_active_7d);
  samples.add(families.activeLabelers, { ...origin, span: 'window' }, counts.labelers_active_window);
  samples.add(families.labelWindow, origin, facts.window_days * daySeconds);
  samples.add(families.labelObserved, origin, coverage.observed_days * daySeconds);
  samples.add(families.labelStarted, origin, unixSeconds(facts.acquisition.started_at));
  samples.addState(families.labelCoverage, origin, coverageStatuses, coverage.status);
  samples.add(families.gaps, origin, coverage.gap_overflow ? null : coverage.gaps.length);
  for (const kind of sourceKinds) samples.add(families.sources, { ...origin, kind }, coverage.sources[kind]);
  for (const [reason, field] of skipReasons) {
    samples.add(families.skipped, { ...origin, reason }, coverage.sources[field]);
  }
}

function addLegacy(samples: MetricSamples, { facts }: LegacyEnvelope, origin: Dimensions): void {
  samples.add(families.knownLabelers, origin, facts.labeler_count);
  samples.add(families.alerts, origin, facts.alert_count_window);
  if (facts.observation) samples.addState(families.adequacy, origin, adequacies, facts.observation.adequacy);
}

const sourceKinds = [
  'enrolled',
  'seeded',
  'discovered',
  'unstarted',
  'probing',
  'refused',
  'established',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
] as const satisfies readonly (keyof CoverageSources)[];

const skipReasons = [
  ['pre_epoch', 'pre_epoch_skipped'],
  ['undated', 'undated_skipped'],
  ['late', 'late_skipped'],
  ['future', 'future_skipped'],
] as const satisfies readonly (readonly [string, keyof CoverageSources])[];
