import type { Registry } from 'prom-client';
import { discoverySources, quirks, sourceParts, type Telemetry } from '../../labels/shares/telemetry.ts';
import { priorityClasses, sourceStates } from '../../labels/state/reading-state.ts';
import { roles } from '../../labels/state/role.ts';
import { refusalReasons } from '../../store/port.ts';
import { type Metrics, metricsIn } from '../metrics.ts';

/** Registers the metrics of the labels process. Their names and dimensions are bounded and contain no identity. */
export function labelsMetrics(registry: Registry, clock: () => number = Date.now): Telemetry {
  const metrics = metricsIn(registry);
  return {
    ...acceptanceMetrics(metrics),
    ...readingMetrics(metrics),
    ...rosterMetrics(metrics),
    ...shareMetrics(metrics),
    ...operatorMetrics(metrics),
    ...artifactMetrics(metrics, clock),
    ...standbyMetrics(metrics, clock),
  };
}

/** Registers the metrics of stored and refused labels, commits and pauses. */
function acceptanceMetrics(metrics: Metrics): Pick<Telemetry, 'committed' | 'refused' | 'paused'> {
  const accepted = metrics.counter('almanac_labels_accepted_total', 'Labels stored.');
  const refused = metrics.counter('almanac_labels_refused_total', 'Labels that were not stored, by reason.', 'reason');
  for (const reason of refusalReasons) refused.inc({ reason }, 0);
  const commits = metrics.histogram(
    'almanac_labels_commit_duration_seconds',
    'Duration of commits.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2],
  );
  const paused = metrics.gauge(
    'almanac_labels_paused',
    '1 while acceptance is paused for this reason, 0 otherwise.',
    'reason',
  );
  return {
    committed: (rows, duplicates, milliseconds) => {
      accepted.inc(rows);
      refused.inc({ reason: 'duplicate' }, duplicates);
      commits.observe(milliseconds / 1000);
    },
    refused: (reason, count) => refused.inc({ reason }, count),
    paused: (reason) => {
      paused.reset();
      if (reason !== null) paused.set({ reason }, 1);
    },
  };
}

/** Registers the metrics of pages, server deviations, limits per host, and errors of sources. */
function readingMetrics(
  metrics: Metrics,
): Pick<Telemetry, 'page' | 'unbalanced' | 'quirk' | 'hostFull' | 'sourceFailed'> {
  const pages = metrics.counter('almanac_labels_pages_total', 'Pages and groups of frames read, by transport.', 'way');
  const unbalanced = metrics.counter(
    'almanac_labels_unbalanced_total',
    'Received labels and messages that were neither stored, refused, nor kept as missing.',
  );
  const oddities = metrics.counter(
    'almanac_labels_quirks_total',
    'Server deviations from the protocol that were worked around.',
    'quirk',
  );
  for (const quirk of quirks) oddities.inc({ quirk }, 0);
  const hostFull = metrics.counter(
    'almanac_labels_host_full_total',
    'Streams not opened and polls postponed because of the limits per host.',
    'way',
  );
  for (const transport of ['stream', 'poll'] as const) hostFull.inc({ way: transport }, 0);
  const sourceFailures = metrics.counter(
    'almanac_labels_source_failures_total',
    'Errors caused by the data of a single labeler, by the part of the program that read it.',
    'part',
  );
  for (const part of sourceParts) sourceFailures.inc({ part }, 0);
  return {
    page: (transport) => pages.inc({ way: transport }),
    unbalanced: (items) => unbalanced.inc(items),
    quirk: (quirk) => oddities.inc({ quirk }),
    hostFull: (transport) => hostFull.inc({ way: transport }),
    sourceFailed: (part) => sourceFailures.inc({ part }),
  };
}

/** Registers the metrics of labelers, by state and by how they were discovered. */
function rosterMetrics(metrics: Metrics): Pick<Telemetry, 'sources' | 'found'> {
  const sources = metrics.gauge(
    'almanac_labels_sources',
    'Enrolled sources by state; also labelers that are not_enrolled, waiting for a reading slot, paused for the day, or denied by the operator.',
    'state',
  );
  const found = metrics.gauge(
    'almanac_labels_found',
    'Enrolled labelers, by how they were found; a labeler found in several ways counts once for each.',
    'way',
  );
  return {
    sources: (counts, others) => {
      for (const state of sourceStates) sources.set({ state }, counts[state]);
      for (const [state, count] of Object.entries(others)) sources.set({ state }, count);
    },
    found: (counts) => {
      for (const source of discoverySources) found.set({ way: source }, counts[source]);
    },
  };
}

/** Registers the metrics of daily budget use, by priority class. */
function shareMetrics(metrics: Metrics): Pick<Telemetry, 'shares'> {
  const throttled = metrics.gauge(
    'almanac_labels_throttled_sources',
    'Sources that are paused or waiting because a share of the daily budget is used up, by priority class.',
    'standing',
  );
  const dayBytes = metrics.gauge(
    'almanac_labels_day_bytes',
    'Bytes added to the store since midnight UTC, by priority class of their source.',
    'standing',
  );
  const dayBudget = metrics.gauge(
    'almanac_labels_day_budget_bytes',
    'Maximum number of bytes that all sources together may add to the store per UTC day.',
  );
  return {
    shares: (held, used, budgetBytes) => {
      for (const priority of priorityClasses) {
        throttled.set({ standing: priority }, held[priority]);
        dayBytes.set({ standing: priority }, used[priority]);
      }
      dayBudget.set(budgetBytes);
    },
  };
}

/** Registers the metrics of purges and of the list of denied labelers. */
function operatorMetrics(metrics: Metrics): Pick<Telemetry, 'purges' | 'denyListDamaged'> {
  const purgesPending = metrics.gauge(
    'almanac_labels_purges_pending',
    "Labelers whose rows are being removed at the operator's request.",
  );
  const purgeDaysLeft = metrics.gauge(
    'almanac_labels_purge_days_left',
    'Stored days from the first day that is not purged yet, summed over labelers.',
  );
  const denyListDamaged = metrics.gauge(
    'almanac_labels_deny_list_damaged',
    '1 while the list of denied labelers is invalid and the last valid one is in force, 0 otherwise.',
  );
  return {
    purges: (pending, daysLeft) => {
      purgesPending.set(pending);
      purgeDaysLeft.set(daysLeft);
    },
    denyListDamaged: (damaged) => denyListDamaged.set(damaged ? 1 : 0),
  };
}

/** Registers the metrics of this instrument's role, and of the rows that it holds as a standby. */
function standbyMetrics(metrics: Metrics, clock: () => number): Pick<Telemetry, 'role' | 'standbyDropped'> {
  const role = metrics.gauge(
    'almanac_labels_role',
    '1 for the current role of this instrument, 0 for its other role.',
    'role',
  );
  for (const one of roles) role.set({ role: one }, one === 'active' ? 1 : 0);
  const rows = metrics.gauge(
    'almanac_labels_standby_rows',
    'Labels that this standby keeps because the store does not contain them yet.',
  );
  const bytes = metrics.gauge('almanac_labels_standby_bytes', 'Memory of the labels that this standby keeps.');
  let oldest: number | null = null;
  metrics.measured(
    'almanac_labels_standby_age_seconds',
    'Age of the oldest label that this standby keeps; 0 if it keeps none.',
    (gauge) => gauge.set(oldest === null ? 0 : (clock() - oldest) / 1000),
  );
  const dropped = metrics.counter(
    'almanac_labels_standby_dropped_total',
    'Labels that this standby dropped because it had reached its limits.',
  );
  const ready = metrics.gauge(
    'almanac_labels_standby_ready',
    '1 while this instrument is a standby that can replace the writer without a gap, 0 otherwise.',
  );
  return {
    role: (current, kept) => {
      for (const one of roles) role.set({ role: one }, one === current ? 1 : 0);
      ready.set(kept.isReady ? 1 : 0);
      rows.set(kept.rows);
      bytes.set(kept.bytes);
      oldest = kept.oldestMs;
    },
    standbyDropped: (count) => dropped.inc(count),
  };
}

/** Registers the metrics of the overview's age, the size of the labelers artifact, and failed writes. */
function artifactMetrics(
  metrics: Metrics,
  clock: () => number,
): Pick<Telemetry, 'published' | 'listed' | 'notWritten'> {
  const notWritten = metrics.counter('almanac_labels_artifact_failures_total', 'Artifacts that could not be written.');
  const listed = metrics.gauge('almanac_labels_listed_labelers', 'Labelers in the last labelers artifact.');
  const bytes = metrics.gauge(
    'almanac_labels_listing_bytes',
    'Total size in bytes of the two files of the last labelers artifact.',
  );
  let publishedAt: number | null = null;
  metrics.measured(
    'almanac_labels_artifact_age_seconds',
    'Time since this process last wrote the artifact; NaN before the first write.',
    (gauge) => gauge.set(publishedAt === null ? Number.NaN : (clock() - publishedAt) / 1000),
  );
  return {
    published: (atMs) => {
      publishedAt = atMs;
    },
    listed: (labelers, size) => {
      listed.set(labelers);
      bytes.set(size);
    },
    notWritten: () => notWritten.inc(),
  };
}
