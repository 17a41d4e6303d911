import type { Registry } from 'prom-client';
import type { ArchiveTelemetry } from '../../archive/archiver.ts';
import { factNames, failureReasons } from '../../archive/days/line.ts';
import { metricsIn } from '../metrics.ts';

/** Registers the metrics of the archive process. Their names and dimensions are bounded and contain no identity. */
export function archiveMetrics(registry: Registry, clock: () => number = Date.now): ArchiveTelemetry {
  const metrics = metricsIn(registry);
  const lines = metrics.counter(
    'almanac_archive_lines_total',
    'Responses of the facts API that were archived, and requests that failed, by fact and outcome.',
    'fact',
    'outcome',
  );
  for (const fact of factNames) {
    for (const outcome of ['archived', ...failureReasons]) lines.inc({ fact, outcome }, 0);
  }
  let completeAt = clock();
  metrics.measured(
    'almanac_archive_age_seconds',
    'Time since all facts of an hour were last archived, or since the process started.',
    (gauge) => gauge.set(Math.max(0, clock() - completeAt) / 1000),
  );
  const withheld = metrics.counter(
    'almanac_archive_withheld_total',
    'Files and lines that were not written because the privacy scan found an identity.',
  );
  const damaged = metrics.gauge(
    'almanac_archive_damaged_files',
    'Damaged files of open days, and an invalid list of known issues.',
  );
  const writable = metrics.gauge('almanac_archive_writable', '1 if the archive can be written, and 0 if it cannot.');
  writable.set(1);
  const days = metrics.gauge('almanac_archive_days', 'Number of days in the archive, by state.', 'state');
  return {
    line: (fact, outcome) => lines.inc({ fact, outcome }),
    complete() {
      completeAt = clock();
    },
    withheld: () => withheld.inc(),
    damaged: (files) => damaged.set(files),
    writable: (isWritable) => writable.set(isWritable ? 1 : 0),
    days(counts) {
      for (const [state, count] of Object.entries(counts)) days.set({ state }, count);
    },
  };
}
