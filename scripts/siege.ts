/**
 * `npm run siege -- --minutes 10 --hostile 500 --honest 200`: runs the label instrument against hostile labelers,
 * within the limits of its systemd unit. Prints the result. Exits with 1 if there is any problem.
 */
import { parseArgs } from 'node:util';
import type { Lag } from '../harness/siege/honest.ts';
import { runSiege } from '../harness/siege/siege.ts';
import { kinds } from '../sim/labelers/hostile/kinds/index.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    hostile: { type: 'string', default: '500' },
    honest: { type: 'string', default: '200' },
    rate: { type: 'string', default: '20' },
    restarts: { type: 'string', default: '3' },
    recovery: { type: 'string', default: '900' },
    kinds: { type: 'string' },
    late: { type: 'string', default: '0.2' },
    flood: { type: 'string', default: '60' },
    disk: { type: 'string', default: '4000' },
    'sync-ms': { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    csv: { type: 'string' },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

/** The 99th percentile of the delay of honest labels must be below this number of seconds. */
const maxLagSeconds = 10;

if (values.list) {
  for (const { name, does } of kinds) console.log(`${name.padEnd(20)} ${does}`);
  process.exit(0);
}

const began = performance.now();
const report = await runSiege({
  seed: Number(values.seed),
  hostile: Number(values.hostile),
  honest: Number(values.honest),
  seconds: Number(values.minutes) * 60,
  restarts: Number(values.restarts),
  recoverySeconds: Number(values.recovery),
  ...(values.kinds === undefined ? {} : { kinds: values.kinds.split(',') }),
  labelRate: Number(values.rate),
  lateShare: Number(values.late),
  floodMegabytesPerSecond: Number(values.flood),
  diskBudgetMegabytes: Number(values.disk),
  syncMs: Number(values['sync-ms']),
  csv: values.csv ?? null,
  // Do not render the page: the runtime can strip types, but does not support JSX.
  readPage: null,
  onProgress: (what) => {
    if (!values.json) console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`);
  },
});

const { rows } = report;
const late = rows.streamed.p99 >= maxLagSeconds ? [`p99 of the lag is ${rows.streamed.p99.toFixed(1)} s`] : [];
const problems = [...report.problems, ...late];
if (values.json) console.log(JSON.stringify({ ...report, problems }));
else print();
if (problems.length > 0) process.exitCode = 1;

function print(): void {
  const lines: readonly (readonly [string, string])[] = [
    [
      'honest labels',
      `${rows.stored} stored of ${rows.emitted}, ${rows.lost} lost, ${rows.replaced} replaced before they were read, ${rows.surplus} too many`,
    ],
    ['lag before', lag(rows.before)],
    ['lag during attack', lag(rows.streamed)],
    ['lag, polled', lag(rows.polled)],
    ['lag after', lag(rows.after)],
    ['wrong states', String(report.undeserved.length)],
    ['crashes', String(report.crashes.length)],
    ['stops', report.stops.map(({ tookMs, code }) => `${code} in ${tookMs} ms`).join(', ')],
    ['memory', `${report.maxRssMegabytes.toFixed(0)} MB at most, trend ${report.rssSlope?.toFixed(0) ?? '?'} MB/h`],
    [
      'processor',
      `${(100 * report.cpuShare).toFixed(0)} % of a core, longest stall ${report.maxStallSeconds.toFixed(2)} s`,
    ],
    ['disk', `${report.diskMegabytes.toFixed(0)} MB, of ${report.floodMegabytes.toFixed(0)} MB of floods`],
    [
      'recovered',
      report.recoveredAfterSeconds === null ? 'never' : `after ${report.recoveredAfterSeconds.toFixed(0)} s`,
    ],
    ['overview', JSON.stringify(report.factsStatuses)],
  ];
  for (const [name, value] of lines) console.log(`${name.padEnd(20)} ${value}`);
  console.log(`${'kind'.padEnd(20)} pages streams records documents announced`);
  for (const [kind, { pages, streams, records, documents, announced }] of Object.entries(report.met)) {
    console.log(
      `${kind.padEnd(20)} ${[pages, streams, records, documents, announced].map((n) => String(n).padStart(7)).join(' ')}`,
    );
  }
  console.log(problems.length === 0 ? 'the siege found no problem' : 'the siege found PROBLEMS');
  for (const problem of problems) console.log(`  ${problem}`);
}

function lag({ labels, p50, p99, max }: Lag): string {
  return `p50 ${p50.toFixed(2)} s, p99 ${p99.toFixed(2)} s, max ${max.toFixed(2)} s of ${labels}`;
}
