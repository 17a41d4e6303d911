import { Counter, Gauge, type Registry } from 'prom-client';
import type { ArchiveTelemetry } from '../../archive/archiver.ts';
import { factNames, failureReasons } from '../../archive/days/line.ts';

/** Registers the metrics of the archive process. Their names and dimensions are bounded and contain no identity. */
export function archiveMetrics(registry: Registry, clock: () => number = Date.now): ArchiveTelemetry {
  const registers = [registry];
  const lines = new Counter({
    name: 'almanac_archive_lines_total',
    help: 'Responses of the facts API that were archived, and requests that failed, by fact and outcome.',
    labelNames: ['fact', 'outcome'],
    registers,
  });
  for (const fact of factNames) {
    for (const outcome of ['archived', ...failureReasons]) lines.inc({ fact, outcome }, 0);
  }
  let completeAt = clock();
  new Gauge({
    name: 'almanac_archive_age_seconds',
    help: 'Time since all facts of an hour were last archived, or since the process started.',
    registers,
    collect() {
      this.set(Math.max(0, clock() - completeAt) / 1000);
    },
  });
  const withheld = new Counter({
    name: 'almanac_archive_withheld_total',
    help: 'Files and lines that were not written because the privacy scan found an identity.',
    registers,
  });
  const damaged = new Gauge({
    name: 'almanac_archive_damaged_files',
    help: 'Damaged files of open days, and an invalid list of known issues.',
    registers,
  });
  const writable = new Gauge({
    name: 'almanac_archive_writable',
    help: '1 if the archive can be written, and 0 if it cannot.',
    registers,
  });
  writable.set(1);
  const days = new Gauge({
    name: 'almanac_archive_days',
    help: 'Number of days in the archive, by state.',
    labelNames: ['state'],
    registers,
  });
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
