/**
 * Measures the observatory as a whole, as an operator runs it: `node bench/observatory.ts [--seconds 120] [--events
 * 330] [--labelers 300] [--labels 20]`.
 *
 *  1. `almanac up` with a simulated network at the network's rates: memory and processor time of all its processes.
 *  2. Its page in a browser, if Debian's Chromium is installed: transferred bytes, and the time until the page is
 *     ready.
 *  3. `almanac up` without a network: the time until it reports the missing network, and processor time.
 *
 * The simulated network runs in this process, so no figure includes it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { processTree } from '../harness/process/process-tree.ts';
import { createSim } from '../sim/index.ts';
import { packageRoot } from '../src/main/command.ts';
import { ended } from './processes.ts';
import { row } from './stats.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    events: { type: 'string', default: '330' },
    labelers: { type: 'string', default: '300' },
    labels: { type: 'string', default: '20' },
  },
});
const seconds = Number(values.seconds);
const browserPath = '/usr/bin/chromium';

function report(name: string, figure: string, target = ''): void {
  console.log(row([name, figure, target, `load ${loadavg()[0]?.toFixed(1)}`], [52, -24, -20, 0]));
}

/** A line that the program printed, and the time from the program's start to this line in milliseconds. */
interface Said {
  readonly text: string;
  readonly afterMs: number;
}

interface Up {
  readonly child: ChildProcess;
  readonly said: Said[];
  /** URL of the observatory's facts API. */
  readonly url: string;
}

async function startUp(data: string, settings: Readonly<Record<string, string>>): Promise<Up> {
  const began = performance.now();
  const program = join(packageRoot(), 'bin', 'almanac.mjs');
  const child = spawn(process.execPath, [program, 'up', '--data', data, '--port', '0', '--account-port', '0'], {
    env: { PATH: process.env.PATH ?? '', ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const said: Said[] = [];
  createInterface({ input: child.stdout }).on('line', (text) =>
    said.push({ text, afterMs: performance.now() - began }),
  );
  const address = (): string | undefined =>
    said.map(({ text }) => /almanac facts listening on (\S+)/.exec(text)?.[1]).find((url) => url !== undefined);
  while (address() === undefined && child.exitCode === null) await setTimeout(20);
  return { child, said, url: address() ?? '' };
}

async function measureAtRates(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const [rate, labelers, labelRate] = [Number(values.events), Number(values.labelers), Number(values.labels)];
  const sim = createSim({ seed: 7, rate, labelers, labelRate, historyHours: 2 });
  const { jetstream, plc, relays, seeds } = await sim.start();
  const up = await startUp(folder, {
    ALMANAC_JETSTREAM: jetstream,
    ALMANAC_ALLOW_LOOPBACK: 'true',
    ALMANAC_PLC: plc ?? '',
    ALMANAC_RELAY: relays.join(','),
    ALMANAC_SEEDS: seeds ?? '',
  });
  try {
    const pid = up.child.pid ?? 0;
    let most = { resident: 0, proportional: 0 };
    const before = processTree(pid).cpuSeconds;
    for (let second = 0; second < seconds; second += 1) {
      await setTimeout(1_000);
      const { residentMb, proportionalMb } = processTree(pid);
      if (residentMb > most.resident) most = { resident: residentMb, proportional: proportionalMb };
    }
    const { cpuSeconds, pids } = processTree(pid);
    report(`maximum memory of ${pids.length} processes in ${seconds} s`, `${most.resident.toFixed(0)} MB`, 'under 800');
    report('  with shared pages counted once', `${most.proportional.toFixed(0)} MB`);
    report('processor time', `${(((cpuSeconds - before) / seconds) * 100).toFixed(1)} % of a core`);
    await measurePage(up.url);
  } finally {
    await ended(up.child);
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measurePage(url: string): Promise<void> {
  if (!existsSync(browserPath)) {
    report('the page in a browser', 'not measured: Chromium is not installed');
    return;
  }
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const readyMs: number[] = [];
    let bytes = 0;
    for (let time = 0; time < 5; time += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      bytes = 0;
      session.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
      await page.goto(`${url}/`, { waitUntil: 'load' });
      const timing = 'performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd';
      readyMs.push(Number(await page.evaluate(timing)));
      await context.close();
    }
    report('page with everything that it loads, compressed', `${(bytes / 1000).toFixed(1)} kB`, 'under 150');
    const times = readyMs.toSorted((a, b) => a - b).map((ms) => ms.toFixed(0));
    report(
      'time until the page is ready (5 runs, each in a new browser context)',
      `${times.join(', ')} ms`,
      'under 1,000',
    );
  } finally {
    await browser.close();
  }
}

async function measureWithoutNetwork(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const nowhere = 'nowhere.invalid';
  const up = await startUp(folder, {
    ALMANAC_JETSTREAM: `wss://${nowhere}/subscribe`,
    ALMANAC_PLC: `https://${nowhere}`,
    ALMANAC_RELAY: `https://${nowhere}`,
  });
  try {
    const words = (): Said | undefined => up.said.find(({ text }) => /network|cannot be reached|no way/i.test(text));
    while (words() === undefined) await setTimeout(50);
    const { text = '', afterMs = 0 } = words() ?? {};
    report('time until a missing network is reported', `${(afterMs / 1000).toFixed(1)} s`, 'within 10');
    console.log(`  "${text}"`);
    await setTimeout(10_000);
    const pid = up.child.pid ?? 0;
    const before = processTree(pid).cpuSeconds;
    await setTimeout(60_000);
    const share = ((processTree(pid).cpuSeconds - before) / 60) * 100;
    report('  processor time over a minute', `${share.toFixed(1)} % of a core`, 'under 2');
  } finally {
    await ended(up.child);
    rmSync(folder, { recursive: true, force: true });
  }
}

await measureAtRates();
await measureWithoutNetwork();
