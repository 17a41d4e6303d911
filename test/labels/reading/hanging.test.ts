import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LabelsProcess, spawnLabels } from '../../../harness/labels/labels-process.ts';
import { type DnsServer, dnsEnvironment, startDnsServer } from '../../../harness/net/dns-server.ts';
import { listenForTest } from '../../../harness/net/listen.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim, type Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { RecentOverview } from '../../../src/artifact/recognise.ts';

/** Number of hanging hosts. It exceeds every limit on concurrent requests to new sources. */
const strangers = 120;

let directory: string;
let sim: Sim;
let plc: string;
let dns: DnsServer;
let honest: Labeler;
let hostile: readonly Labeler[];
let running: LabelsProcess | null = null;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-hanging-'));
  sim = createSim({
    ...{ rate: 1, historyHours: 0, labelers: strangers + 1, labelRate: 0 },
    shapeLabeler: () => ({ software: 'skyware' }),
  });
  dns = await startDnsServer(() => 'silence');
  plc = (await sim.start()).plc ?? '';
  [honest, ...hostile] = sim.labelers.list as [Labeler, ...Labeler[]];
});

afterEach(async () => {
  running?.process.kill('SIGKILL');
  await running?.ended;
  running = null;
  await sim.stop();
  await dns.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts the built program with the simulated network and with these DIDs in its roster. */
function observe(dids: readonly string[]): LabelsProcess {
  const seeds = join(directory, 'seeds.json');
  writeFileSync(seeds, JSON.stringify(dids.map((did) => ({ did }))));
  running = spawnLabels(
    [
      ...['--store', `sqlite:${directory}/store`, '--artifacts', `${directory}/artifacts`, '--seeds', seeds],
      ...['--plc', plc, '--jetstream', '', '--allow-loopback', '--publish-seconds', '1', '--min-free-megabytes', '0'],
    ],
    dnsEnvironment(dns),
  );
  return running;
}

function established(): number {
  try {
    const text = readFileSync(join(directory, 'artifacts', 'labels-overview.json'), 'utf8');
    return (JSON.parse(text) as RecentOverview).coverage.sources.established;
  } catch {
    return 0;
  }
}

/** Returns the names that have been looked up so far. */
const names = () => new Set(dns.asked.map((question) => question.split(' ')[0]));

/**
 * Stops the program with SIGTERM, as systemd does, and returns its exit code. The code is an error if stopping takes
 * too long.
 */
async function terminate(labels: LabelsProcess): Promise<{ code: number | null; stderr: readonly string[] }> {
  labels.process.kill('SIGTERM');
  const { code, stderr } = await labels.ended;
  return { code, stderr };
}

test('endpoints whose names never resolve delay neither the reading of honest labelers nor the exit after SIGTERM', async () => {
  for (const [i, { did }] of hostile.entries()) {
    sim.labelers.directory.point(did, `https://l${i}.hostile${i}.example`);
  }
  const labels = observe([...hostile.map(({ did }) => did), honest.did]);
  await labels.observing;
  await until('a hundred names are queried', () => names().size >= 100);
  await until('the honest labeler is read', () => established() === 1);
  expect(await terminate(labels)).toEqual({ code: 0, stderr: [] });
});

test('endpoints that never respond to a connection delay neither the reading of honest labelers nor the exit after SIGTERM', async () => {
  const silent = await listenForTest(createServer());
  for (const [i, { did }] of hostile.entries()) {
    sim.labelers.directory.point(did, `http://l${i}.hostile${i}.localhost:${silent.port}`);
  }
  const labels = observe([...hostile.map(({ did }) => did), honest.did]);
  await labels.observing;
  await until('a hundred connections hang', () => silent.seen.length >= 100);
  await until('the honest labeler is read', () => established() === 1);
  expect(await terminate(labels)).toEqual({ code: 0, stderr: [] });
});

test('hanging did:web hosts delay neither requests to the directory nor the exit after SIGTERM', async () => {
  const web = hostile.map((_, i) => `did:web:l${i}.hostile${i}.example`);
  const labels = observe([...web, honest.did]);
  await labels.observing;
  await until('eight names are queried', () => names().size >= 8);
  await until('the honest labeler is read', () => established() === 1);
  expect(await terminate(labels)).toEqual({ code: 0, stderr: [] });
});
