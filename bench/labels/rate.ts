/**
 * Runs the label instrument with a directory and with PostgreSQL at a multiple of the network's rate, side by side:
 * `node bench/labels/rate.ts [--sources 5000] [--streaming N] [--rate 160] [--seconds 3600] [--stores sqlite,postgres]
 * [--burst N] [--views]`.
 *
 * Both instruments read the same simulated labelers, which together emit `rate` labels a second. The network emits 16 a
 * second on average. With `--streaming`, only the first `N` labelers serve a stream; the others are polled. With `--burst`, the
 * labelers emit `N` labels at once every 30 s in addition. With `--views`, the account page and the overview are requested
 * four times a second. Prints for each store the largest number of labels that were emitted and not yet stored, resident
 * memory over time, processor time, long backlogs when they occur, and what the instrument logged. Fails unless each
 * label is stored exactly once and no gap is recorded. The targets are a backlog of less than 10 s of emitted labels,
 * and less than 1 GB of memory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { StoreComparison, storedOnce } from '../../harness/kills/compare-store.ts';
import { type LabelsProcess, spawnLabels } from '../../harness/labels/labels-process.ts';
import { freePort } from '../../harness/net/ports.ts';
import { startPostgres } from '../../harness/postgres/server.ts';
import { processTree } from '../../harness/process/process-tree.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type SimAddresses } from '../../sim/index.ts';
import { accountOf } from '../../sim/labelers/truth.ts';
import { formatMicros } from '../../src/contract/timestamp.ts';
import { readDescriptors } from '../../src/http/listening.ts';
import { openStoreReader } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';
import { row } from '../stats.ts';
import { startViews, type ViewFigures, type Views } from './views.ts';

/** Interval between two samples, in milliseconds. */
const sampleMs = 5_000;
/** Maximum number of gaps that are named. */
const namedGaps = 20;
/** Number of samples between two bursts. */
const burstSamples = 6;

const { values } = parseArgs({
  options: {
    sources: { type: 'string', default: '5000' },
    streaming: { type: 'string' },
    burst: { type: 'string', default: '0' },
    views: { type: 'boolean', default: false },
    rate: { type: 'string', default: '160' },
    seconds: { type: 'string', default: '3600' },
    stores: { type: 'string', default: 'sqlite,postgres' },
  },
});
const [sources, rate, seconds] = [Number(values.sources), Number(values.rate), Number(values.seconds)];
const streaming = Number(values.streaming ?? sources);
const burst = Number(values.burst);
/** Backlog above which a sample is printed: 10 s of labels and two bursts. */
const longBacklog = 10 * rate + 2 * burst;

/** Flags with the limits of the shipped unit: its young generation, and the heap that V8 derives from `MemoryMax=1G`. */
const shippedFlags = { NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=512' } as const;
/** Time within which all labelers are found and connected, in milliseconds: the directory permits 25 requests a second. */
const connectMs = 1_800_000;

/** An instrument under test, with its samples. */
interface Instrument {
  readonly kind: string;
  readonly url: string;
  readonly metricsPort: number;
  readonly program: LabelsProcess;
  /** Resident memory at each sample, in MB. */
  readonly residentMb: number[];
  /** Number of labels that were emitted and not yet stored, at each sample. */
  readonly behind: number[];
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-labels-rate-'));
const kinds = values.stores.split(',');
// A simulated labeler has one socket that listens, and a stream to each instrument if it serves one. Polls share the rest.
const neededFiles = sources + streaming * kinds.length + 1_000;
const { limit = neededFiles } = readDescriptors() ?? {};
if (limit < neededFiles) {
  throw new Error(`needs ${neededFiles} open files, not ${limit}: raise the limit (ulimit -n), or use one of --stores`);
}
const server = kinds.includes('postgres') ? await startPostgres({ durable: true }) : null;
/** Rate of each labeler in labels per second, by the labeler's index. */
const rates: number[] = [];
const sim = createSim({
  ...{ seed: 7, labelers: sources, labelRate: rate, rate: 1, historyHours: 0 },
  shapeLabeler: (profile) => {
    rates[profile.index] = profile.rate;
    // Start without traffic: an instrument may skip labels from before its epoch.
    return { software: 'skyware', rate: 0, ...(profile.index >= streaming && { ailment: 'no_stream' as const }) };
  },
  // Each polled labeler has an address of its own, because the instrument limits the pages of one host.
  labelerHost: (index) => (index < streaming ? '127.0.0.1' : `127.1.${index >> 8}.${index & 255}`),
});
const started: Instrument[] = [];
try {
  const addresses = await sim.start();
  for (const kind of kinds) started.push(await startInstrument(kind, addresses));
  await Promise.all(started.map(({ program }) => program.observing));
  const unconnected = () =>
    sim.labelers.list.filter(({ streams, profile }) => profile.index < streaming && streams.length < kinds.length)
      .length;
  const progress = () => `each labeler has a connection from each instrument; ${unconnected()} do not`;
  await until(progress, () => unconnected() === 0, connectMs);
  console.log(`${sources} labelers are connected to ${kinds.join(' and ')}, load ${load()}`);
  const cpuBefore = started.map(({ program }) => processTree(program.process.pid ?? 0).cpuSeconds);
  for (const { faults, profile } of sim.labelers.list) faults.setRate(rates[profile.index] ?? 0);
  const views = values.views ? await Promise.all(started.map(viewsOf)) : [];
  const begun = performance.now();
  for (let samples = 1; performance.now() - begun < seconds * 1000; samples++) {
    await wait(sampleMs);
    if (burst > 0 && samples % burstSamples === 0) emitBurst(burst);
    for (const one of started) await sample(one);
  }
  for (const { faults } of sim.labelers.list) faults.setRate(0);
  for (const [at, view] of views.entries()) reportViews(started[at]?.kind ?? '', await view.stop());
  for (const [at, one] of started.entries()) await judge(one, seconds, cpuBefore[at] ?? 0);
} finally {
  for (const { program } of started) program.process.kill('SIGKILL');
  await sim.stop();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startInstrument(kind: string, addresses: SimAddresses): Promise<Instrument> {
  const metricsPort = await freePort();
  const url = kind === 'postgres' && server !== null ? server.url('labels') : `sqlite:${join(folder, 'store')}`;
  const args = [
    ...['--store', url, '--state', join(folder, `${kind}-state`), '--artifacts', join(folder, `${kind}-artifacts`)],
    ...['--plc', addresses.plc ?? '', '--jetstream', addresses.jetstream, '--seeds', addresses.seeds ?? ''],
    ...['--relay', addresses.relays[0] ?? '', '--allow-loopback', '--min-free-megabytes', '0'],
    ...['--metrics-port', String(metricsPort), '--publish-seconds', '60', '--log-level', 'warn'],
    ...['--max-labelers', String(sources)],
  ];
  return { kind, url, metricsPort, program: spawnLabels(args, shippedFlags), residentMb: [], behind: [] };
}

/** Starts the readers of an instrument, over accounts that the simulated labelers have labelled. */
function viewsOf({ kind, url }: Instrument): Promise<Views> {
  let n = 0;
  const account = (): string => {
    const labeler = sim.labelers.list[(n * 7_919) % sim.labelers.list.length];
    n += 1;
    if (labeler === undefined || labeler.edge === 0) return 'did:web:nobody.example';
    const { uri } = labeler.serve(1 + (n % labeler.edge)) as { readonly uri?: unknown };
    return accountOf(String(uri));
  };
  const data = join(folder, `${kind}-views`);
  return startViews({ store: url, artifacts: join(folder, `${kind}-artifacts`), data, account });
}

function reportViews(kind: string, figures: readonly ViewFigures[]): void {
  for (const { name, requests, p50, p99, statuses, changes } of figures) {
    const counts = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
    console.log(row([`${kind}: ${name}, requests: ${counts.join(', ')}`, String(requests), ''], [62, 16, 0]));
    console.log(row([`${kind}: ${name}, p50 and p99, ms`, `${p50} and ${p99}`, ''], [62, 16, 0]));
    // The first is the start. A view that stays at 200 has no other.
    if (changes.length > 1) for (const change of changes) console.log(`${kind}: ${name}: ${change}`);
  }
}

/** Lets the labelers emit `count` labels at once in total. */
function emitBurst(count: number): void {
  const bursting = sim.labelers.list.slice(0, Math.min(count, sim.labelers.list.length));
  for (const [i, { faults }] of bursting.entries()) {
    faults.emit(Math.floor(((i + 1) * count) / bursting.length) - Math.floor((i * count) / bursting.length));
  }
}

async function sample({ kind, metricsPort, program, residentMb, behind }: Instrument): Promise<void> {
  const emitted = sim.labelers.list.reduce((sum, { edge }) => sum + edge, 0);
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const accepted = [...text.matchAll(/^almanac_labels_accepted_total(?:\{.*\})? (\d+)$/gm)];
  const waiting = emitted - accepted.reduce((sum, [, count]) => sum + Number(count), 0);
  behind.push(waiting);
  if (waiting > longBacklog) {
    console.log(`${kind}: ${new Date().toISOString()}: ${waiting} labels are not stored yet`);
  }
  residentMb.push(processTree(program.process.pid ?? 0).residentMb);
}

/**
 * Stops an instrument, compares its store with the emitted labels, and prints its figures and the problems found. Sets
 * the exit code to 1 if there are problems.
 */
async function judge(one: Instrument, ran: number, cpuBefore: number): Promise<void> {
  const { kind, url, program, residentMb, behind } = one;
  const comparison = new StoreComparison(sim, url);
  const problems = [...(await comparison.untilWhole())];
  const cpu = processTree(program.process.pid ?? 0).cpuSeconds - cpuBefore;
  program.process.kill('SIGTERM');
  const { code, stderr } = await program.ended;
  if (code !== 0) problems.push(`the instrument exited with ${code}: ${stderr.join(' ')}`);
  const { rows, problems: others } = await comparison.compare();
  problems.push(...others, ...(await storedOnce(sim, url)), ...(await gapsIn(url)));
  const report = (name: string, value: string | number, target = '') =>
    console.log(row([`${kind}: ${name}`, String(value), target], [62, 16, 0]));
  report('labels stored', rows);
  report('emitted and not yet stored, maximum', Math.max(...behind), `under ${10 * rate} (10 s of labels)`);
  report('resident memory, maximum, MB', Math.round(Math.max(...residentMb)), 'under 1,000');
  report('resident memory at each sixth of the time, MB', sixths(residentMb).map(Math.round).join(' '));
  report('processor time of the instrument, share of a core', `${((cpu / ran) * 100).toFixed(1)} %`);
  report('load', load());
  for (const warning of warningsOf(program)) console.log(`${kind}: logged: ${warning}`);
  for (const problem of problems) console.log(`${kind}: WRONG: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}

/** Describes the recorded gaps: their number, and the first ones with source, reason and time. */
async function gapsIn(url: string): Promise<string[]> {
  const store = await openStoreReader(url);
  try {
    const { startedAt } = await store.epoch();
    const gaps = await store.gaps({ start: startedAt, end: micros(Date.now() * 1000) });
    const named = gaps
      .slice(0, namedGaps)
      .map(
        ({ source, reason, start, end }) =>
          `gap of ${source ?? 'all'}: ${reason}, ${formatMicros(start)} to ${formatMicros(end)}`,
      );
    return gaps.length === 0 ? [] : [`${gaps.length} gaps are recorded`, ...named];
  } finally {
    await store.close();
  }
}

/** Returns each distinct message that the instrument logged, with the number of its entries and the first of them. */
function warningsOf(program: LabelsProcess): string[] {
  const lines = Map.groupBy(program.log(), ({ msg }) => String(msg));
  return [...lines].map(([message, [first, ...more]]) => `${more.length + 1} x ${message}: ${JSON.stringify(first)}`);
}

function sixths(samples: readonly number[]): number[] {
  return Array.from({ length: 6 }, (_, at) => samples[Math.ceil(((at + 1) * samples.length) / 6) - 1] ?? Number.NaN);
}

function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
}
