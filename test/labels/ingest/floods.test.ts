import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Flood, type Flooder, startFlooder } from '../../../harness/labels/flooder.ts';
import { type LabelsProcess, spawnLabels } from '../../../harness/labels/labels-process.ts';
import { cpuSeconds, memoryMib } from '../../../harness/process/process-tree.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim, type Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { infoFrame, labelsFrame } from '../../../sim/labelers/wire.ts';
import type { RecentOverview } from '../../../src/artifact/recognise.ts';
import { openSqliteReader } from '../../../src/store/sqlite/read/reader.ts';
import { micros } from '../../../src/store/time.ts';

/** Tests the built program with labelers that send as fast as possible, and one honest seeded labeler. */

let folder: string;
let sim: Sim;
let honest: Labeler;
let running: LabelsProcess | null = null;
let flooders: Flooder[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-floods-'));
  sim = createSim({ rate: 1, historyHours: 0, labelers: 1, labelRate: 0, shapeLabeler: () => ({ seeded: true }) });
});

afterEach(async () => {
  running?.process.kill('SIGKILL');
  await running?.ended;
  running = null;
  await Promise.all(flooders.map((flooder) => flooder.stop()));
  flooders = [];
  await sim.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts the program and, once the honest labeler is established, the flood. Relays list the flooding labelers like any
 * other labelers.
 */
async function observe(count: number, flood: Flood): Promise<LabelsProcess> {
  const { plc, relays, seeds } = await sim.start();
  const [only] = sim.labelers.list;
  if (!only) throw new Error('the simulation has no labeler');
  honest = only;
  const labels = spawnLabels([
    ...['--store', `sqlite:${folder}/store`, '--artifacts', `${folder}/artifacts`, '--publish-seconds', '1'],
    ...['--plc', plc ?? '', '--seeds', seeds ?? '', '--jetstream', '', '--allow-loopback'],
    ...['--min-free-megabytes', '0', '--disk-budget-megabytes-per-day', '200', '--discovery-seconds', '1'],
    ...relays.flatMap((relay) => ['--relay', relay]),
  ]);
  running = labels;
  await labels.observing;
  await until('the labeler is established', () => overview().coverage.sources.established === 1);
  flooders = await Promise.all(Array.from({ length: count }, () => startFlooder(flood)));
  for (const { dids } of sim.labelers.relays) dids.push(...flooders.map(({ did }) => did));
  const areConnected = (): boolean => flooders.every(({ connections }) => connections > 0);
  await until('the flooding labelers are connected', areConnected, 60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${unconnected(labels)}`);
  });
  for (const flooder of flooders) flooder.begin();
  await until('the flood has begun', () => flooders.every(({ sent }) => sent > 0));
  return labels;
}

/** Lists the labelers that were not connected, with the log lines about them. */
function unconnected({ log }: LabelsProcess): string {
  const lines = log().map((line) => JSON.stringify(line));
  return flooders
    .filter(({ connections }) => connections === 0)
    .flatMap(({ did }) => [did, ...lines.filter((line) => line.includes(did))])
    .concat(JSON.stringify(overview().coverage.sources))
    .join('\n');
}

function overview(): RecentOverview {
  return JSON.parse(readFileSync(join(folder, 'artifacts', 'labels-overview.json'), 'utf8')) as RecentOverview;
}

async function stored() {
  const store = openSqliteReader(join(folder, 'store'));
  try {
    const { startedAt: start } = await store.epoch();
    const end = micros(Date.now() * 1000 + 3_600_000_000);
    const counts = await store.countsByLabeler({ start, end });
    const rows = new Map(counts.map(({ labeler, applied, removed }) => [labeler, applied + removed]));
    return { rows, gaps: await store.gaps({ start, end }) };
  } finally {
    await store.close();
  }
}

function diskBytes(): number {
  const days = join(folder, 'store', 'days');
  return readdirSync(days).reduce((sum, name) => sum + statSync(join(days, name)).size, 0);
}

/** Makes the honest labeler emit labels one by one, each after the previous one has been stored. */
async function giveHonestly(labels: number): Promise<void> {
  for (let i = 0; i < labels; i += 1) {
    honest.faults.emit(1);
    await until(`label ${i}`, async () => (await stored()).rows.get(honest.did) === honest.edge);
  }
}

const label = (n: number, src: string, bytes: number) => ({
  ...{ src, val: 'spam', cts: new Date().toISOString() },
  uri: `at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/${n}${'x'.repeat(bytes)}`,
});

test.each([
  ['15 kB, which no label needs', 15_000],
  ['3 kB', 3_000],
])(
  'honest labels are stored within the daily budget while four labelers flood with large labels (%s)',
  async (_, bytes) => {
    const labels = await observe(4, (n, did) => labelsFrame(n, [label(n, did, bytes)]));
    await giveHonestly(40);
    const sent = flooders.reduce((sum, flooder) => sum + flooder.sent, 0) * bytes;
    expect(sent).toBeGreaterThan(20_000_000);
    // New sources together may use a fifth of the daily budget, and an eighth of that is available immediately.
    expect(diskBytes()).toBeLessThan(40_000_000);
    expect(memoryMib(labels.process.pid, 'VmHWM') * 1024 ** 2).toBeLessThan(1024 ** 3);
    const { gaps } = await stored();
    expect(gaps.filter(({ source }) => source === null || source === honest.did)).toEqual([]);
    expect(overview().caveats.join()).not.toContain('No labels of');
    // After the flood, the honest labeler is read as before.
    for (const flooder of flooders) flooder.calm();
    await giveHonestly(5);
    expect(overview().coverage.sources.established).toBeGreaterThanOrEqual(1);
  },
);

test('honest labels are stored while twenty labelers flood with frames of 30 bytes that cause gaps', async () => {
  const outdated = infoFrame('OutdatedCursor', '');
  const labels = await observe(20, () => outdated);
  const before = cpuSeconds(labels.process.pid);
  await giveHonestly(48);
  // Frames that cause gaps use less processor time than is allowed for the honest labels, whatever their rate.
  expect(cpuSeconds(labels.process.pid) - before).toBeLessThan(2.5);
  const { gaps, rows } = await stored();
  expect(rows.get(honest.did)).toBe(48);
  expect(gaps.filter(({ source }) => source === null || source === honest.did)).toEqual([]);
});

test('honest labels are stored during floods of empty frames and of frames of an unknown kind', async () => {
  await observe(20, (n) => (n % 2 === 0 ? labelsFrame(n, []) : infoFrame('Weather', 'fine')));
  await giveHonestly(48);
});

test('the program stops normally and within its time limit during a flood', async () => {
  const { process, ended } = await observe(8, (n, did) => labelsFrame(n, [label(n, did, 3_000)]));
  await until('more of the flood is sent', () => flooders.every(({ sent }) => sent > 500));
  process.kill('SIGTERM');
  // The program exits with a nonzero code if stopping takes too long.
  expect((await ended).code).toBe(0);
});
