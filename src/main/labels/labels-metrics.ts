import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { discoverySources, quirks, sourceParts, type Telemetry } from '../../labels/shares/telemetry.ts';
import { priorityClasses, sourceStates } from '../../labels/state/reading-state.ts';
import { roles } from '../../labels/state/role.ts';
import { refusalReasons } from '../../store/port.ts';

/** Registers the metrics of the labels process. Their names and dimensions are bounded and contain no identity. */
export function labelsMetrics(registry: Registry, clock: () => number = Date.now): Telemetry {
  const registers = [registry];
  return {
    ...acceptanceMetrics(registers),
    ...readingMetrics(registers),
    ...rosterMetrics(registers),
    ...shareMetrics(registers),
    ...operatorMetrics(registers),
    ...artifactMetrics(registers, clock),
    ...standbyMetrics(registers, clock),
  };
}

/** Registers the metrics of stored and refused labels, commits and pauses. */
function acceptanceMetrics(registers: Registry[]): Pick<Telemetry, 'committed' | 'refused' | 'paused'> {
  const accepted = new Counter({ name: 'almanac_labels_accepted_total', help: 'Labels stored.', registers });
  const refused = new Counter({
    name: 'almanac_labels_refused_total',
    help: 'Labels that were not stored, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of refusalReasons) refused.inc({ reason }, 0);
  const commits = new Histogram({
    name: 'almanac_labels_commit_duration_seconds',
    help: 'Duration of commits.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
    registers,
  });
  const paused = new Gauge({
    name: 'almanac_labels_paused',
    help: '1 while acceptance is paused for this reason, 0 otherwise.',
    labelNames: ['reason'],
    registers,
  });
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
  registers: Registry[],
): Pick<Telemetry, 'page' | 'unbalanced' | 'quirk' | 'hostFull' | 'sourceFailed'> {
  const pages = new Counter({
    name: 'almanac_labels_pages_total',
    help: 'Pages and groups of frames read, by transport.',
    labelNames: ['way'],
    registers,
  });
  const unbalanced = new Counter({
    name: 'almanac_labels_unbalanced_total',
    help: 'Received labels and messages that were neither stored, refused, nor kept as missing.',
    registers,
  });
  const oddities = new Counter({
    name: 'almanac_labels_quirks_total',
    help: 'Server deviations from the protocol that were worked around.',
    labelNames: ['quirk'],
    registers,
  });
  for (const quirk of quirks) oddities.inc({ quirk }, 0);
  const hostFull = new Counter({
    name: 'almanac_labels_host_full_total',
    help: 'Streams not opened and polls postponed because of the limits per host.',
    labelNames: ['way'],
    registers,
  });
  for (const transport of ['stream', 'poll'] as const) hostFull.inc({ way: transport }, 0);
  const sourceFailures = new Counter({
    name: 'almanac_labels_source_failures_total',
    help: 'Errors caused by the data of a single labeler, by the part of the program that read it.',
    labelNames: ['part'],
    registers,
  });
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
function rosterMetrics(registers: Registry[]): Pick<Telemetry, 'sources' | 'found'> {
  const sources = new Gauge({
    name: 'almanac_labels_sources',
    help: 'Enrolled sources by state; also labelers that are not_enrolled, waiting for a reading slot, paused for the day, or denied by the operator.',
    labelNames: ['state'],
    registers,
  });
  const found = new Gauge({
    name: 'almanac_labels_found',
    help: 'Enrolled labelers, by how they were found; a labeler found in several ways counts once for each.',
    labelNames: ['way'],
    registers,
  });
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
function shareMetrics(registers: Registry[]): Pick<Telemetry, 'shares'> {
  const throttled = new Gauge({
    name: 'almanac_labels_throttled_sources',
    help: 'Sources that are paused or waiting because a share of the daily budget is used up, by priority class.',
    labelNames: ['standing'],
    registers,
  });
  const dayBytes = new Gauge({
    name: 'almanac_labels_day_bytes',
    help: 'Bytes added to the store since midnight UTC, by priority class of their source.',
    labelNames: ['standing'],
    registers,
  });
  const dayBudget = new Gauge({
    name: 'almanac_labels_day_budget_bytes',
    help: 'Maximum number of bytes that all sources together may add to the store per UTC day.',
    registers,
  });
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
function operatorMetrics(registers: Registry[]): Pick<Telemetry, 'purges' | 'denyListDamaged'> {
  const purgesPending = new Gauge({
    name: 'almanac_labels_purges_pending',
    help: "Labelers whose rows are being removed at the operator's request.",
    registers,
  });
  const purgeDaysLeft = new Gauge({
    name: 'almanac_labels_purge_days_left',
    help: 'Number of days from which rows are still to be purged, summed over labelers.',
    registers,
  });
  const denyListDamaged = new Gauge({
    name: 'almanac_labels_deny_list_damaged',
    help: '1 while the list of denied labelers is invalid and the last valid one is in force, 0 otherwise.',
    registers,
  });
  return {
    purges: (pending, daysLeft) => {
      purgesPending.set(pending);
      purgeDaysLeft.set(daysLeft);
    },
    denyListDamaged: (damaged) => denyListDamaged.set(damaged ? 1 : 0),
  };
}

/** Registers the metrics of this instrument's role, and of the rows that it holds as a standby. */
function standbyMetrics(registers: Registry[], clock: () => number): Pick<Telemetry, 'role' | 'standbyDropped'> {
  const role = new Gauge({
    name: 'almanac_labels_role',
    help: '1 for the current role of this instrument, 0 for its other role.',
    labelNames: ['role'],
    registers,
  });
  for (const one of roles) role.set({ role: one }, one === 'active' ? 1 : 0);
  const rows = new Gauge({
    name: 'almanac_labels_standby_rows',
    help: 'Labels that this standby keeps because the store does not contain them yet.',
    registers,
  });
  const bytes = new Gauge({
    name: 'almanac_labels_standby_bytes',
    help: 'Memory of the labels that this standby keeps.',
    registers,
  });
  let oldest: number | null = null;
  new Gauge({
    name: 'almanac_labels_standby_age_seconds',
    help: 'Age of the oldest label that this standby keeps; 0 if it keeps none.',
    registers,
    collect() {
      this.set(oldest === null ? 0 : (clock() - oldest) / 1000);
    },
  });
  const dropped = new Counter({
    name: 'almanac_labels_standby_dropped_total',
    help: 'Labels that this standby dropped because it had reached its limits.',
    registers,
  });
  const ready = new Gauge({
    name: 'almanac_labels_standby_ready',
    help: '1 while this instrument is a standby that can replace the writer without a gap, 0 otherwise.',
    registers,
  });
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
  registers: Registry[],
  clock: () => number,
): Pick<Telemetry, 'published' | 'listed' | 'notWritten'> {
  const notWritten = new Counter({
    name: 'almanac_labels_artifact_failures_total',
    help: 'Artifacts that could not be written.',
    registers,
  });
  const listed = new Gauge({
    name: 'almanac_labels_listed_labelers',
    help: 'Labelers in the last labelers artifact.',
    registers,
  });
  const bytes = new Gauge({
    name: 'almanac_labels_listing_bytes',
    help: 'Total size in bytes of the two files of the last labelers artifact.',
    registers,
  });
  let publishedAt: number | null = null;
  new Gauge({
    name: 'almanac_labels_artifact_age_seconds',
    help: 'Time since this process last wrote the artifact; NaN before the first write.',
    registers,
    collect() {
      this.set(publishedAt === null ? Number.NaN : (clock() - publishedAt) / 1000);
    },
  });
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
