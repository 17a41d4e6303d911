import { afterEach, expect, test, vi } from 'vitest';
import { type LabelStation, quickTimings, removeStation, startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { day, dayOf, dayStart, hour, micros, minute } from '../../src/store/time.ts';

let sim: Sim | null = null;
let station: LabelStation | null = null;
/**
 * Time by which all clocks have been advanced, error of the local wall clock, and error of the other clocks, all in
 * microseconds.
 */
let [passed, stepped, others] = [0, 0, 0];

const wall = () => micros(Date.now() * 1000 + passed + stepped);
const monotonic = () => performance.now() * 1000 + passed;

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  await sim?.stop();
  station = null;
  sim = null;
  [passed, stepped, others] = [0, 0, 0];
});

test('a clock that is set ahead does not cause the removal of a day within an hour, or before an upstream confirms the clock', async () => {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    clock: () => Date.now() + (passed + others) / 1000,
    shapeLabeler: () => ({ software: 'skyware', ailment: 'no_stream' }),
  });
  sim = made;
  const { plc } = await made.start();
  const [labeler] = made.labelers.list;
  if (!labeler || plc === null) throw new Error('the simulation has no labeler');
  const timings = { ...quickTimings, heartbeatMs: 20, upkeepMs: 20 };
  const observed = await startStation({ seeds: [labeler.did], plc, timings }, { wall, monotonic });
  station = observed;
  const { store } = observed;
  const begun = wall();
  const rows = async (): Promise<number> => {
    const counts = await store.countsByLabeler({ start: begun, end: micros(begun + 2 * day) });
    return counts.reduce((sum, { applied }) => sum + applied, 0);
  };
  const floor = async () => (await store.frontier()).floor;
  labeler.faults.emit(1);
  await until('a row of the first day is stored', async () => (await rows()) === 1);
  const before = await floor();
  passed += day;
  labeler.faults.emit(1);
  await until('a row of the next day is stored', async () => (await rows()) === 2);

  const maintain = vi.spyOn(store, 'maintain');
  const beat = vi.spyOn(store, 'beat');
  await until('the upkeep has run', () => maintain.mock.calls.length > 2);
  /** Waits for several heartbeats, because upkeep runs as often as heartbeats. */
  const turns = async (): Promise<void> => {
    const beats = beat.mock.calls.length;
    await until('several heartbeats have occurred', () => beat.mock.calls.length > beats + 10);
  };
  stepped += 40 * day;
  maintain.mockClear();
  await turns();
  passed += hour - minute;
  await turns();
  expect(maintain).not.toHaveBeenCalled();
  expect(await floor()).toBe(before);

  passed += 2 * minute;
  await turns();
  expect(maintain).not.toHaveBeenCalled();
  expect(await floor()).toBe(before);

  others = stepped;
  await until('the first day is dropped', async () => (await floor()) === dayStart(dayOf(begun) + 1));
});
