/**
 * Measures the memory and the processor time of the weather instrument while it reads two simulated hosts over the
 * `subscribeEvents` method: first one hour of backlog, then several minutes of live traffic. The rates equal those of
 * two public hosts (means of 331 and 205 events per second). Prints one line of JSON. `--minutes N` changes the length
 * of the live traffic.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../harness/process/at-exit.ts';
import { memoryMib, processTree } from '../harness/process/process-tree.ts';
import { ended } from './processes.ts';
import { median } from './stats.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '4' } } });
const minutes = Number(values.minutes);
const rates = [331, 205];
const sampleMs = 1_000;
const program = fileURLToPath(new URL('../bin/almanac.mjs', import.meta.url));

function started(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function simulatedHost(rate: number, index: number): Promise<{ child: ChildProcess; url: string }> {
  const options = [
    '--seed',
    String(index + 5),
    '--rate',
    String(rate),
    '--history-hours',
    '2',
    '--log-level',
    'silent',
  ];
  const child = started(['sim', ...options]);
  if (!child.stdout) throw new Error('the simulated host has no stdout');
  const { jetstream } = JSON.parse(String((await once(child.stdout, 'data'))[0])) as { jetstream: string };
  return { child, url: jetstream.replace('/subscribe', '') };
}

/** Resolves when both backfills have finished, or when the instrument has closed its stderr. */
async function filledIn(child: ChildProcess): Promise<void> {
  if (!child.stderr) throw new Error('the instrument has no stderr');
  let over = 0;
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('the backfill of missed events has ended')) over += 1;
    if (over === rates.length) break;
  }
  child.stderr.resume();
}

const { folder, remove } = temporaryFolder('bench');
const hosts = await Promise.all(rates.map(simulatedHost));
const urls = hosts.flatMap(({ url }) => ['--jetstream', url]);
const weather = started(['weather', ...urls, '--data', folder, '--allow-loopback', '--backfill-hours', '1']);
const pid = weather.pid ?? 0;
try {
  await filledIn(weather);
  const peakOfBacklog = Math.round(memoryMib(pid, 'VmHWM'));
  const cpuAtStart = processTree(pid).cpuSeconds;
  const samples: number[] = [];
  const began = performance.now();
  while (samples.length < (minutes * 60_000) / sampleMs) {
    await wait(sampleMs);
    samples.push(Math.round(memoryMib(pid, 'VmRSS')));
  }
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(
    `${JSON.stringify({
      bench: 'weather-hosts',
      events_per_s: rates,
      live_seconds: Math.round(seconds),
      peak_rss_mib: Math.round(memoryMib(pid, 'VmHWM')),
      peak_rss_mib_of_backlog: peakOfBacklog,
      live_rss_mib: median(samples),
      live_rss_mib_highest: Math.max(...samples),
      cpu_percent: Number((((processTree(pid).cpuSeconds - cpuAtStart) / seconds) * 100).toFixed(1)),
      load: loadavg()[0],
      target: { peak_rss_mib: 200 },
    })}\n`,
  );
} finally {
  for (const child of [weather, ...hosts.map((host) => host.child)]) await ended(child);
  remove();
}
