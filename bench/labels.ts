/**
 * Measures the label instrument as an operator runs it: `node bench/labels.ts [--labels 40000] [--sources 700]
 * [--seconds 60]`.
 *
 *  1. Only signature checks, on one core.
 *  2. Verified acceptance: the real program on one core receives a burst of signed labels over the streams of 20
 *     simulated labelers, until the rows are durable. For comparison, the same rows go into one plain indexed table,
 *     without checks, on the other core.
 *  3. 700 sources at the network's rates: the time from a label's emission to its acceptance, and resident memory.
 *
 * The simulated network uses the other core. `npm run bench -- store --window FOLDER` measures only the store (an
 * overview of 45 million rows, and sealing a day with 500 labels per second). Prints each figure with its target.
 */
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../harness/process/at-exit.ts';
import { createSim } from '../sim/index.ts';
import { accountOf, labelKey } from '../sim/labelers/truth.ts';
import { readLabel } from '../src/labels/label/label-fields.ts';
import type { NewObservation } from '../src/store/port.ts';
import { acceptedAt, startLabels } from './labels-program.ts';
import { row } from './stats.ts';
import { plainTable } from './store-day.ts';

/** Index of the core that the program uses. This process and the simulated network use the other core. */
const core = 0;
/** Number of simulated labelers that send the burst. */
const burstSources = 20;
const batchRows = 500;

const { values } = parseArgs({
  options: {
    labels: { type: 'string', default: '40000' },
    sources: { type: 'string', default: '700' },
    seconds: { type: 'string', default: '60' },
  },
});
spawnSync('taskset', ['-cp', '1', String(process.pid)]);
console.log(
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')} at the start; the targets apply to two idle cores`,
);

function report(name: string, value: number, target: string): void {
  const text = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
  console.log(row([name, text, target], [58, -12, 0]));
}

/** Measures only signature checks, in a separate process on the program's core. */
function measureChecks(): void {
  const script = join(import.meta.dirname, 'labels-checks.ts');
  const done = spawnSync('taskset', ['-c', String(core), process.execPath, script], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  const { k256, p256 } = JSON.parse(done.stdout) as { k256: number; p256: number };
  report('signature checks alone, k256, per second', k256, 'at least 2,200');
  report('signature checks alone, p256, per second', p256, 'at least 8,000');
}

async function measureBurst(labels: number): Promise<void> {
  const shape = () => ({ software: 'skyware', curve: 'k256', ailment: 'none' }) as const;
  const sim = createSim({
    seed: 3,
    labelers: burstSources,
    labelRate: 0,
    rate: 1,
    historyHours: 0,
    shapeLabeler: shape,
  });
  const program = await startLabels(core, sim, await sim.start());
  try {
    for (const { faults } of sim.labelers.list) faults.emit(10);
    await accepted(program.metric, 10 * burstSources);
    const each = Math.round(labels / burstSources);
    const start = performance.now();
    for (const { faults } of sim.labelers.list) faults.emit(each);
    await accepted(program.metric, (10 + each) * burstSources);
    const seconds = (performance.now() - start) / 1000;
    const verified = (each * burstSources) / seconds;
    report('verified acceptance (k256), durable, labels per second', verified, 'at least 2,000');
    report('maximum resident memory after the burst, MB', program.peakMb(), 'at most 300');
    const plain = plainRate(sim.labelers.list.flatMap((one) => rowsOf(one, one.edge)));
    report('for comparison: one plain indexed table without checks, rows per second', plain, '');
  } finally {
    await program.stop();
    program.remove();
    await sim.stop();
  }
}

async function accepted(metric: (name: string) => Promise<number>, count: number): Promise<void> {
  while ((await metric('almanac_labels_accepted_total')) < count) await setTimeout(20);
}

function rowsOf(labeler: { serve(n: number): unknown }, edge: number): NewObservation[] {
  return Array.from({ length: edge }, (_, i) => {
    const label = readLabel(labeler.serve(i + 1) as Readonly<Record<string, unknown>>);
    if (typeof label === 'string') throw new Error(`a label of the benchmark is ${label}`);
    return { label, signature: 'unverified' };
  });
}

function plainRate(rows: readonly NewObservation[]): number {
  const { folder, remove } = temporaryFolder('bench');
  const plain = plainTable(join(folder, 'plain.sqlite'));
  try {
    const start = performance.now();
    for (let at = 0; at < rows.length; at += batchRows) plain.append(rows.slice(at, at + batchRows), at);
    return rows.length / ((performance.now() - start) / 1000);
  } finally {
    plain.close();
    remove();
  }
}

async function measureSources(sources: number, seconds: number): Promise<void> {
  const sim = createSim({ seed: 5, labelers: sources, labelRate: 20, rate: 1, historyHours: 0 });
  const program = await startLabels(core, sim, await sim.start());
  try {
    // Exclude labels that arrived while the streams were being opened.
    await setTimeout(3_000);
    const from = Date.now() * 1000;
    await setTimeout(seconds * 1000);
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    const until = Date.now() * 1000;
    await setTimeout(3_000);
    const commits = await program.metric('almanac_labels_commit_duration_seconds_sum');
    const count = await program.metric('almanac_labels_commit_duration_seconds_count');
    const peak = program.peakMb();
    await program.stop();
    const emitted = [...sim.labelers.truth.emitted(from, until)];
    const accounts = new Set(emitted.map(({ label }) => accountOf(String((label as { uri: unknown }).uri))));
    const stored = await acceptedAt(program.folder, accounts);
    const late: number[] = [];
    let missing = 0;
    for (const { label, emittedUs, served } of emitted) {
      const at = stored.get(labelKey(label));
      if (at !== undefined) late.push((at - emittedUs) / 1000);
      else if (served) missing += 1;
    }
    late.sort((a, b) => a - b);
    const commitMs = (commits / count) * 1000;
    report(`labels of ${sources} sources in ${seconds} s`, emitted.length, '');
    report('labels served but not stored', missing, '0');
    report('from emission of a label to its commit, p50 ms', late[Math.floor(late.length * 0.5)] ?? Number.NaN, '');
    report(
      'from emission of a label to its commit, p99 ms',
      late[Math.floor(late.length * 0.99)] ?? Number.NaN,
      'under 2,000, including the commit',
    );
    report('mean duration of a commit, ms', commitMs, '');
    report(`resident memory with ${sources} sources, maximum, MB`, peak, 'at most 300');
  } finally {
    await program.stop();
    program.remove();
    await sim.stop();
  }
}

measureChecks();
await measureBurst(Number(values.labels));
await measureSources(Number(values.sources), Number(values.seconds));
console.log(
  'the overview at 45 M rows (under 20 ms) and sealing with 500 labels per second: npm run bench -- store --window FOLDER',
);
console.log(
  `load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')} at the end`,
);
