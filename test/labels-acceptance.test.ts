import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSim, type Sim } from '../sim/index.ts';
import type { Labeler } from '../sim/labelers/labeler.ts';
import { hour, micros } from '../src/store/time.ts';
import { type LabelStation, removeStation, startStation, until } from './support/label-station.ts';

let sim: Sim;
let labeler: Labeler;
let station: LabelStation | null = null;
/** By how much this machine's wall clock goes wrong, in microseconds. */
let offset = 0;

const wall = () => micros(Date.now() * 1000 + offset);

beforeEach(async () => {
  offset = 0;
  sim = createSim({ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 });
  const { plc, relays } = await sim.start();
  const [only] = sim.labelers.list;
  if (!only) throw new Error('a labeler was asked for');
  labeler = only;
  const started = await startStation({ seeds: [labeler.did], plc: plc ?? '', relays }, { wall });
  station = started;
  await until('established', async () => (await started.overview()).coverage.sources.established === 1);
  labeler.faults.emit(3);
  await until('the first labels', async () => (await rows(started)) === 3);
});

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  station = null;
  await sim.stop();
});

async function rows({ store }: LabelStation): Promise<number> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(wall() + 48 * hour) });
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  return store.gaps({ start, end: micros(wall() + 48 * hour) });
}

function observed(): LabelStation {
  if (!station) throw new Error('nothing observes');
  return station;
}

test('a full disk pauses acceptance: a gap that grows, nothing lost, and it goes on by itself', async () => {
  observed().store.limitPages(1);
  labeler.faults.emit(2_000);
  await until('the pause', async () => (await gaps(observed())).length > 0);
  await until('said in the artifact', async () =>
    (await observed().overview()).caveats.some(
      (caveat) => caveat === 'Acceptance is paused for all 1 sources (disk_full).',
    ),
  );
  expect(await rows(observed())).toBeLessThan(2_003);
  const [begun] = await gaps(observed());
  await until('it grows', async () => ((await gaps(observed()))[0]?.end ?? 0) > (begun?.end ?? 0));
  observed().store.limitPages(1_000_000);
  await until('the rest', async () => (await rows(observed())) === 2_003);
  const all = await gaps(observed());
  expect(all).toEqual([{ source: null, reason: 'ingest_paused', start: begun?.start, end: all[0]?.end }]);
});

test('a clock that is set is a gap, and nothing is accepted until an upstream agrees with it', async () => {
  offset = hour;
  labeler.faults.emit(5);
  await until('the gap', async () => (await gaps(observed())).length > 0);
  await until('the pause', async () =>
    (await observed().overview()).caveats.some((caveat) => caveat.includes('clock_doubtful')),
  );
  expect(await rows(observed())).toBe(3);
  offset = 0;
  await until('what was held up', async () => (await rows(observed())) === 8);
  const [gap, ...others] = await gaps(observed());
  expect(others).toEqual([]);
  expect(gap).toMatchObject({ source: null, reason: 'ingest_paused' });
  expect((gap?.end ?? 0) - (gap?.start ?? 0)).toBeGreaterThanOrEqual(hour);
});
