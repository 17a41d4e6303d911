import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type LabelStation, removeStation, startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { countRows } from '../../harness/store/scan.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { day, dayOf, dayStart, hour, micros } from '../../src/store/time.ts';

let sim: Sim | null = null;
let station: LabelStation | null = null;
/** Time by which all clocks have been advanced, in microseconds. */
let passed = 0;

/** Sets all clocks to an hour of tomorrow, so that midnights in a test do not depend on when the test runs. */
function beginAt(hourOfDay: number): void {
  passed = dayStart(dayOf(clocks.wall()) + 1) + hourOfDay * hour - clocks.wall();
}

const clocks = {
  wall: () => micros(Date.now() * 1000 + passed),
  monotonic: () => performance.now() * 1000 + passed,
};

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  await sim?.stop();
  sim = null;
  station = null;
  passed = 0;
});

/** Creates a stopped store that was copied, and then observed for two more hours. */
async function observedSinceItsCopy() {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    clock: () => clocks.wall() / 1000,
    shapeLabeler: () => ({ software: 'skyware' }),
  });
  sim = made;
  const { plc } = await made.start();
  const [labeler] = made.labelers.list;
  if (!labeler || plc === null) throw new Error('the simulation has no labeler');
  const start = async (folder?: string): Promise<LabelStation> => {
    const started = await startStation({ seeds: [labeler.did], plc }, { ...clocks, ...(folder ? { folder } : {}) });
    station = started;
    await until('a labeler is established', async () => (await started.overview()).coverage.sources.established === 1);
    return started;
  };
  const first = await start();
  labeler.faults.emit(5);
  await until('the first labels are stored', async () => (await countRows(first.store)) === 5);
  const { generationId } = await first.store.epoch();
  await first.stop();
  const [store, copy] = ['store', 'copy'].map((name) => join(first.folder, name));
  if (!store || !copy) throw new Error('the directories have no names');
  cpSync(store, copy, { recursive: true });
  const copied = clocks.wall();

  passed += hour;
  const second = await start(first.folder);
  labeler.faults.emit(7);
  await until('the other labels are stored', async () => (await countRows(second.store)) === 12);
  // Wait for a heartbeat that records the time of the newest rows.
  await until('the newest observed time is stored', async () => {
    const { observedThrough } = await second.store.frontier();
    return Number(await second.store.note('observed-through')) === observedThrough;
  });
  passed += hour;
  await until('a later page is stored', async () => {
    labeler.faults.emit(1);
    return ((await second.store.frontier()).observedThrough ?? 0) > copied + 2 * hour;
  });
  await second.stop();

  const putBack = (parts: readonly string[]): void => {
    for (const part of parts) {
      rmSync(join(store, part), { recursive: true });
      cpSync(join(copy, part), join(store, part), { recursive: true });
    }
  };
  return { copied, generationId, labeler, putBack, startAgain: () => start(first.folder) };
}

async function expectGapSinceTheCopy(
  { copied, generationId, labeler }: Awaited<ReturnType<typeof observedSinceItsCopy>>,
  restored: LabelStation,
): Promise<void> {
  await until('all labels of the labeler are stored', async () => (await countRows(restored.store)) === labeler.edge);
  const { startedAt, generationId: now } = await restored.store.epoch();
  expect(now).toBe(generationId);
  const gaps = await restored.store.gaps({ start: startedAt, end: micros(clocks.wall() + day) });
  const covered = gaps.find(({ start, end }) => start <= copied && end >= copied + 2 * hour);
  expect(covered).toMatchObject({ source: null, reason: 'ingest_paused' });
  for await (const { problems } of restored.store.verify()) expect(problems).toEqual([]);
}

const whole = ['state.sqlite', 'days'];

test.each([
  { what: 'the whole store', parts: whole, when: 'within a day', hourOfDay: 12 },
  { what: 'only its days', parts: ['days'], when: 'within a day', hourOfDay: 12 },
  { what: 'only its state', parts: ['state.sqlite'], when: 'within a day', hourOfDay: 12 },
  { what: 'the whole store', parts: whole, when: 'across midnight', hourOfDay: 23 },
  { what: 'only its state', parts: ['state.sqlite'], when: 'across midnight', hourOfDay: 23 },
])(
  'an instrument with a restored store records a gap since the copy, keeps the generation, and reads available labels again ($what, $when)',
  async ({ parts, hourOfDay }) => {
    beginAt(hourOfDay);
    const observed = await observedSinceItsCopy();
    observed.putBack(parts);
    await expectGapSinceTheCopy(observed, await observed.startAgain());
  },
);

test('a store whose restored days lack a newer day does not start until its state file is also restored', async () => {
  beginAt(23);
  const observed = await observedSinceItsCopy();
  observed.putBack(['days']);
  await expect(observed.startAgain()).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringMatching(/: restore it, or restore state\.sqlite and days from one copy$/),
  });
  observed.putBack(['state.sqlite']);
  await expectGapSinceTheCopy(observed, await observed.startAgain());
});
