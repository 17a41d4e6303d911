/**
 * Measures the weather instrument as an operator runs it:
 *
 *  1. One hour of backlog from a simulated host on loopback over each protocol, with durable counts. After the first of
 *     three rounds, the host has the encoded frames in memory, just as a real host has them on disk. In the later
 *     rounds, the host therefore only sends. Rounds of the legacy protocol alternate with rounds of `@atcute/jetstream`
 *     (validation off), which only counts the same backlog in memory.
 *  2. Resident memory.
 *  3. The duration of a summary with 45 days in the store.
 *
 * Ratios are of processor time, which other processes affect less than elapsed time. Prints one line of JSON for each
 * protocol.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JetstreamSubscription } from '@atcute/jetstream';
import { cpuSeconds, memoryMib } from '../harness/process/process-tree.ts';
import { artifactNames, writeArtifact } from '../src/artifact/write.ts';
import { type Wire, wires } from '../src/contract/vocabulary.ts';
import { readSummary } from '../src/weather/publish/read-summary.ts';
import { parseEndpoint } from '../src/weather/window/endpoint.ts';
import { dayUs, emptyDelta, windowUs } from '../src/weather/window/window.ts';
import { keptDays, openWindowStore } from '../src/weather/window/window-store.ts';
import { median } from './stats.ts';

const rounds = 3;
/** Mean events per second. This rate yields at least 1.2 million events per hour at any hour of the day. */
const rate = 480;
/** Size of the host's cache. The cache can hold one hour of backlog of each protocol. */
const cacheMegabytes = 4_000;
const program = fileURLToPath(new URL('../bin/almanac.mjs', import.meta.url));

interface Backlog {
  readonly events: number;
  readonly perSecond: number;
  /** Events per second of processor time, summed over all threads. */
  readonly perCpuSecond: number;
  readonly seconds: number;
  readonly rssMb: number;
  /**
   * Processor time of the simulated host per second of elapsed time. A value close to 1 means that the host is the
   * bottleneck.
   */
  readonly hostCores: number;
}

async function line(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the child process has no stdout');
  return String((await once(child.stdout, 'data'))[0]).trim();
}

/** Resolves when the child process has logged the given text. Rejects if the process exits first. */
function logged(child: ChildProcess, text: string): Promise<void> {
  let seen = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (data: Buffer) => {
      seen += data.toString();
      if (seen.includes(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`the process ended before it logged "${text}": ${seen}`)));
  });
}

/** Measures the backfill of an instrument that starts without a store. */
async function ours(jetstream: string, host: ChildProcess): Promise<Backlog> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const args = ['weather', '--jetstream', jetstream, '--data', folder, '--allow-loopback', '--backfill-hours', '1'];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const over = logged(child, 'the backfill of missed events has ended');
    await logged(child, 'the backfill of missed events has started');
    const start = performance.now();
    const [cpuAtStart, hostAtStart] = [cpuSeconds(child.pid), cpuSeconds(host.pid)];
    await over;
    const seconds = (performance.now() - start) / 1000;
    const cpu = cpuSeconds(child.pid) - cpuAtStart;
    const hostCores = (cpuSeconds(host.pid) - hostAtStart) / seconds;
    const rssMb = memoryMib(child.pid, 'VmHWM');
    child.kill('SIGTERM');
    await once(child, 'exit');
    const store = openWindowStore(folder);
    const series = store.series(parseEndpoint(jetstream, { allowLoopback: true }).name);
    const rows = store.windows(series.id, { from: 0, to: Number.MAX_SAFE_INTEGER }, []);
    store.close();
    const events = rows.reduce((sum, row) => sum + row.events, 0);
    return { events, perSecond: events / seconds, perCpuSecond: events / cpu, seconds, rssMb, hostCores };
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The platform's WebSocket without the URL parameter that the simulated host does not support. */
class WithoutHello extends WebSocket {
  constructor(address: string | URL, protocols?: string | string[]) {
    const url = new URL(address);
    url.searchParams.delete('requireHello');
    super(url, protocols);
  }
}

/** Measures how fast `@atcute/jetstream` counts the same number of events of the same backlog in memory. */
async function atcute(jetstream: string, events: number): Promise<Pick<Backlog, 'perSecond' | 'perCpuSecond'>> {
  const cursor = (Date.now() - 3_600_000) * 1000;
  const stream = new JetstreamSubscription({
    url: jetstream,
    validateEvents: false,
    cursor,
    ws: { WebSocket: WithoutHello },
  });
  let counted = 0;
  const start = performance.now();
  const cpuAtStart = process.cpuUsage();
  for await (const event of stream) {
    if (event.time_us > 0) counted += 1;
    if (counted >= events) break;
  }
  const { user, system } = process.cpuUsage(cpuAtStart);
  return { perSecond: (counted / (performance.now() - start)) * 1000, perCpuSecond: (counted / (user + system)) * 1e6 };
}

/** Returns the durations of reading and writing a summary, in milliseconds. The store holds every minute of 45 days. */
async function summaryMs(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const endpoint = 'wss://host.example/subscribe';
  const store = openWindowStore(folder);
  try {
    const { id } = store.series(endpoint);
    const nowUs = Date.now() * 1000;
    const end = nowUs - (nowUs % windowUs);
    const days = Array.from({ length: keptDays }, (_, day) => end - (keptDays - day) * dayUs);
    for (const [after, from] of days.entries()) {
      const windows = Array.from({ length: 1440 }, (_, i) => {
        const delta = emptyDelta(from + i * windowUs);
        delta.events = 20_000 + (i % 97);
        delta.counts.fill(300 + (i % 89));
        return delta;
      });
      // Leave a short gap in each half hour, so that there are many spans.
      const observed = Array.from({ length: 48 }, (_, i) => ({
        from: from + i * 1_800_000_000,
        to: from + (i + 1) * 1_800_000_000 - 1_000_000,
      }));
      const position = { kind: 'time', value: from + dayUs, counted: 1, timeUs: from + dayUs } as const;
      store.commit({ series: id, after, gains: [{ windows, observed }], live: position, backfill: null });
    }
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const start = performance.now();
      const summary = readSummary({
        store,
        endpoint: { name: endpoint, wire: 'jetstream.legacy' },
        origin: 'simulated',
        nowUs,
      });
      if (summary.conditions.confidence !== 'supported') throw new Error('the summary has no supported baseline');
      await writeArtifact(join(folder, artifactNames.weather), summary);
      times.push(performance.now() - start);
    }
    return times;
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const targets: Readonly<Record<Wire, object>> = {
  'jetstream.legacy': { per_cpu_s: 580_000, ratio: 2.4, peak_rss_mb: 150, summary_ms: 50 },
  'jetstream.subscribeEvents': { per_cpu_s: 500_000, peak_rss_mb: 150, summary_ms: 50 },
};

const summaries = await summaryMs();
const cached = ['--cache-megabytes', String(cacheMegabytes)];
const sim = spawn(
  process.execPath,
  [program, 'sim', '--seed', '5', '--rate', String(rate), '--history-hours', '2', '--log-level', 'silent', ...cached],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const { jetstream } = JSON.parse(await line(sim)) as { jetstream: string };
  for (const wire of wires) await compare(wire, jetstream);
} finally {
  sim.kill('SIGTERM');
}

/** Measures the backlog over a protocol, and prints the result. */
async function compare(wire: Wire, legacy: string): Promise<void> {
  const isLegacy = wire === 'jetstream.legacy';
  const backlogs: Backlog[] = [];
  const others: Pick<Backlog, 'perSecond' | 'perCpuSecond'>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const backlog = await ours(isLegacy ? legacy : legacy.replace('/subscribe', ''), sim);
    backlogs.push(backlog);
    if (isLegacy) others.push(await atcute(legacy, Math.min(backlog.events, 600_000)));
  }
  const ratios = backlogs.map(({ perCpuSecond }, round) => perCpuSecond / (others[round]?.perCpuSecond ?? Number.NaN));
  process.stdout.write(
    `${JSON.stringify({
      bench: 'weather',
      wire,
      backlog_events: median(backlogs.map(({ events }) => events)),
      backlog_seconds: Number(median(backlogs.map(({ seconds }) => seconds)).toFixed(2)),
      durable_per_s: Math.round(median(backlogs.map(({ perSecond }) => perSecond))),
      durable_per_cpu_s: Math.round(median(backlogs.map(({ perCpuSecond }) => perCpuSecond))),
      host_cores: Number(median(backlogs.map(({ hostCores }) => hostCores)).toFixed(2)),
      ...(isLegacy ? comparison(others, ratios) : {}),
      peak_rss_mb: Math.round(Math.max(...backlogs.map(({ rssMb }) => rssMb))),
      summary_ms: Number(median(summaries).toFixed(1)),
      summary_worst_ms: Number(Math.max(...summaries).toFixed(1)),
      load: loadavg()[0],
      target: targets[wire],
    })}\n`,
  );
}

function comparison(others: readonly Pick<Backlog, 'perSecond' | 'perCpuSecond'>[], ratios: readonly number[]): object {
  return {
    atcute_jetstream_per_s: Math.round(median(others.map(({ perSecond }) => perSecond))),
    atcute_jetstream_per_cpu_s: Math.round(median(others.map(({ perCpuSecond }) => perCpuSecond))),
    ratio: Number(median(ratios).toFixed(2)),
    ratio_range: [Math.min(...ratios), Math.max(...ratios)].map((ratio) => Number(ratio.toFixed(2))),
  };
}
