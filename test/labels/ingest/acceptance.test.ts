import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { awayFromMidnight } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, quickTimings, removeStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import { createSim, type Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { dayPath, storePaths } from '../../../src/store/sqlite/base/files.ts';
import { day, dayOf, hour, micros } from '../../../src/store/time.ts';

let sim: Sim;
let labeler: Labeler;
let station: LabelStation | null = null;
let network: { readonly plc: string; readonly relays: readonly string[] };
/** Microseconds by which the correct time is ahead of this machine, to keep the test away from midnight. */
let ahead = 0;
const present = () => micros(Date.now() * 1000 + ahead);
/** Error of this machine's wall clock in the simulation, in microseconds. */
let offset = 0;
/** Time by which this machine's clock and the clocks of other machines have been advanced, in microseconds. */
let passed = { monotonic: 0, others: 0 };

const wall = () => micros(present() + offset);
const monotonic = () => performance.now() * 1000 + passed.monotonic;

beforeEach(async () => {
  ahead = awayFromMidnight();
  offset = 0;
  passed = { monotonic: 0, others: 0 };
  sim = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    clock: () => (present() + passed.others) / 1000,
  });
  const { plc, relays } = await sim.start();
  network = { plc: plc ?? '', relays };
  const [only] = sim.labelers.list;
  if (!only) throw new Error('the simulation has no labeler');
  labeler = only;
  const started = await startStation({ seeds: [labeler.did], ...network }, { wall, monotonic });
  station = started;
  await until('the labeler is established', async () => (await started.overview()).coverage.sources.established === 1);
  labeler.faults.emit(3);
  await until('the first labels are stored', async () => (await countRows(started.store)) === 3);
});

afterEach(async () => {
  await station?.stop();
  if (station) removeStation(station);
  station = null;
  await sim.stop();
});

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  return store.gaps({ start, end: micros(wall() + 48 * hour) });
}

function observed(): LabelStation {
  if (!station) throw new Error('no instrument is running');
  return station;
}

test('while the disk is full, the instrument accepts no labels and its gap grows, and all labels are stored once there is space', async () => {
  observed().store.limitPages(1);
  labeler.faults.emit(2_000);
  await until('the pause is recorded', async () => (await gaps(observed())).length > 0);
  await until('the artifact has the reason', async () =>
    (await observed().overview()).caveats.some(
      (caveat) => caveat === 'No labels of the one labeler are accepted at the moment (disk_full).',
    ),
  );
  expect(await countRows(observed().store)).toBeLessThan(2_003);
  const [begun] = await gaps(observed());
  await until('the gap is longer', async () => ((await gaps(observed()))[0]?.end ?? 0) > (begun?.end ?? 0));
  observed().store.limitPages(1_000_000);
  await until('the rest is stored', async () => (await countRows(observed().store)) === 2_003);
  const all = await gaps(observed());
  expect(all).toEqual([{ source: null, reason: 'ingest_paused', start: begun?.start, end: all[0]?.end }]);
});

test('while a stopped reader of the store keeps the log full, the instrument accepts no labels and its gap grows, until that reader exits', async () => {
  // The instrument is restarted with a log limit of 16 MB, most of which a single commit may write.
  const { folder } = observed();
  await observed().stop();
  const settings = { seeds: [labeler.did], plc: network.plc, relays: network.relays };
  station = await startStation(settings, { folder, wall, monotonic, maxLogBytes: 16 * 1024 * 1024 });
  const begun = (await gaps(observed())).length;
  const path = dayPath(storePaths(join(folder, 'store')), dayOf(wall()), 'open');
  const reader = new Database(path, { readonly: true });
  const rowsRead = reader.prepare('SELECT id FROM observation').iterate();
  expect(rowsRead.next().done).toBe(false);
  const paused = async () => (await observed().overview()).caveats.some((caveat) => caveat.includes('(wal_full)'));
  // Emit labels in small batches, which fill the log faster, because each commit writes whole pages.
  await until('acceptance is paused', async () => {
    if (labeler.edge - (await countRows(observed().store)) < 50) labeler.faults.emit(50);
    return paused();
  });
  // All labels emitted before may have been stored.
  labeler.faults.emit(10);
  await until('its gap is recorded', async () => (await gaps(observed())).length > begun);
  const latest = async () => (await gaps(observed())).at(-1);
  const first = await latest();
  expect(first).toMatchObject({ source: null, reason: 'ingest_paused' });
  await until('the gap is longer', async () => ((await latest())?.end ?? 0) > (first?.end ?? 0));
  expect(await latest()).toMatchObject({ start: first?.start });
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(await countRows(observed().store)).toBeLessThan(labeler.edge);
  rowsRead.return?.();
  reader.close();
  const { startedAt: epochUs } = await observed().store.epoch();
  const { truth } = sim.labelers;
  await until(
    'the rest is stored',
    async () => (await countRows(observed().store)) === truth.expected({ epochUs }).accepted,
  );
  await until('the artifact has no reason', async () => !(await paused()));
  expect(await gaps(observed())).toHaveLength(begun + 1);
});

test('after a forward clock step, the instrument records a gap and accepts no labels until an upstream confirms the clock', async () => {
  offset = hour;
  labeler.faults.emit(5);
  await until('the gap is recorded', async () => (await gaps(observed())).length > 0);
  await until('the pause is published', async () =>
    (await observed().overview()).caveats.some((caveat) => caveat.includes('clock_doubtful')),
  );
  expect(await countRows(observed().store)).toBe(3);
  offset = 0;
  await until('the delayed labels are stored', async () => (await countRows(observed().store)) === 8);
  const [gap, ...others] = await gaps(observed());
  expect(others).toEqual([]);
  expect(gap).toMatchObject({ source: null, reason: 'ingest_paused' });
  expect((gap?.end ?? 0) - (gap?.start ?? 0)).toBeGreaterThanOrEqual(hour);
});

test('a backward clock step causes a gap, and labels that seemed to be in the future are stored after the correction', async () => {
  offset = -hour;
  labeler.faults.emit(5);
  // By the wrong clock, the labels and the epoch are in the future.
  await until('the gap is recorded', async () => (await gaps(observed())).length > 0);
  expect(await countRows(observed().store)).toBe(3);
  offset = 0;
  await until('the delayed labels are stored', async () => (await countRows(observed().store)) === 8);
  const { startedAt } = await observed().store.epoch();
  const refused = await observed().store.refusals({ start: startedAt, end: micros(wall() + hour) });
  expect(refused.filter(({ reason }) => reason !== 'duplicate')).toEqual([]);
  const found = await gaps(observed());
  expect(found).toMatchObject([{ source: null, reason: 'ingest_paused' }]);
  // The gap would begin at the clock's new time, but it cannot begin before the epoch.
  expect(found[0]?.start).toBe(startedAt);
});

test('after a backward correction of the clock, labels are stamped only once the clock has passed the last stamp', async () => {
  // Set this machine's clock 70 s ahead of all other clocks, which follow once the step has caused a gap.
  passed.others = 0;
  offset = 70_000_000;
  labeler.faults.emit(1);
  await until('the step is noticed', async () => (await gaps(observed())).length > 0);
  passed.others = 70_000_000;
  await until('the step is confirmed', async () => (await countRows(observed().store)) === 4);
  passed.others = 0;
  offset = 0;
  labeler.faults.emit(5);
  await until('the pause is published', async () =>
    (await observed().overview()).caveats.some((caveat) => caveat.includes('clock_behind')),
  );
  expect(await countRows(observed().store)).toBe(4);
  // All clocks advance by 70 s.
  for (const clock of ['monotonic', 'others'] as const) passed[clock] += 70_000_000;
  offset += 70_000_000;
  await until('the delayed labels are stored', async () => (await countRows(observed().store)) === 9);
  for await (const { problems } of observed().store.verify()) expect(problems).toEqual([]);
});

test('after the machine was suspended, the instrument records a gap and accepts labels once an upstream confirms the clock', async () => {
  const before = wall();
  // Do not advance the monotonic clock, because it stops while the machine is suspended.
  offset = hour;
  passed.others = hour;
  labeler.faults.emit(5);
  await until('the labels of that time are stored', async () => (await countRows(observed().store)) === 8);
  const found = await gaps(observed());
  expect(found).toMatchObject([{ source: null, reason: 'ingest_paused' }]);
  const { start, end } = found[0] ?? { start: 0, end: 0 };
  expect(start).toBeLessThanOrEqual(before + 10_000_000);
  expect(end).toBeGreaterThanOrEqual(before + hour);
  await until(
    'the artifact has no reason',
    async () => !(await observed().overview()).caveats.join().includes('paused'),
  );
});

test('after a start with a wrong clock, the instrument writes nothing until the clock is corrected', async () => {
  const { folder } = observed();
  await observed().stop();
  offset = 20 * day;
  station = null;
  const settings = { seeds: [labeler.did], plc: network.plc, relays: network.relays };
  const begun = present();
  // The instrument waits without a time limit for its clock to be confirmed.
  const still = monotonic();
  const started = await startStation(settings, { folder, wall, monotonic: () => still });
  station = started;
  labeler.faults.emit(5);
  const { generationId, observedThrough, end } = await started.store.frontier();
  expect(observedThrough).toBeLessThan(begun);
  expect(await started.store.heartbeat()).toBeLessThan(begun);
  expect((await gaps(started)).filter((gap) => gap.end > begun)).toEqual([]);
  offset = 0;
  await until('the labels of that time are stored', async () => (await countRows(started.store)) === 8);
  const found = await gaps(started);
  expect(found).toMatchObject([{ source: null, reason: 'ingest_paused' }]);
  expect(found[0]?.end).toBeLessThan(present());
  expect(await started.store.frontier()).toMatchObject({ generationId });
  expect((await started.store.frontier()).end).toBeGreaterThan(end);
});

test('the instrument can be stopped while it waits for a correct clock at startup', async () => {
  const { folder } = observed();
  await observed().stop();
  offset = 20 * day;
  station = null;
  const started = await startStation(
    { seeds: [labeler.did], plc: network.plc, relays: network.relays },
    { folder, wall, monotonic },
  );
  await started.stop();
  offset = 0;
  station = await startStation({ seeds: [labeler.did], ...network }, { folder, wall, monotonic });
  expect(await countRows(observed().store)).toBe(3);
});

test('if no upstream sends a time, the instrument starts and observes, but does not remove days by age', async () => {
  const { folder } = observed();
  await observed().stop();
  await sim.stop();
  const timings = { ...quickTimings, upkeepMs: 20 };
  station = await startStation({ seeds: [labeler.did], ...network, timings }, { folder, wall, monotonic });
  const maintain = vi.spyOn(station.store, 'maintain');
  const beat = vi.spyOn(station.store, 'beat');
  await until('some heartbeats have occurred', () => beat.mock.calls.length > 2);
  expect(maintain).not.toHaveBeenCalled();
});
