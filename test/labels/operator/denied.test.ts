import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { folderInTest } from '../../../harness/process/folder.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { formatTimestamp } from '../../../src/contract/timestamp.ts';
import { changeDenyFile, parseDenyTarget } from '../../../src/labels/operator/deny-file.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { day, micros } from '../../../src/store/time.ts';

const denyPath = (folder: string): string => join(folder, 'labels-denied.json');

/** Tests the operator's list of denied labelers with a running instrument. */

const stage = labelStage();

async function observe({ labelers = 3, prepare }: { labelers?: number; prepare?: (hostile: Labeler) => void } = {}) {
  stage.sim = createSim({ rate: 1, historyHours: 0, labelers, labelRate: 0 });
  const { plc, relays } = await stage.sim.start();
  const { list } = stage.sim.labelers;
  const [hostile, honest] = list;
  if (!hostile || !honest) throw new Error('the simulation has fewer than two labelers');
  const given = { seeds: [hostile.did], plc: plc ?? '', relays };
  const station = await startStation(given);
  stage.station = station;
  await until('all are established', async () => (await station.overview()).coverage.sources.established === labelers);
  prepare?.(hostile);
  for (const { faults } of list) faults.emit(5);
  await until('the first labels are stored', async () => (await rows(station)).get(hostile.did) === 5);
  await until('the first labels are stored', async () => (await rows(station)).get(honest.did) === 5);
  return { station, hostile, honest, given };
}

async function rows({ store }: LabelStation): Promise<Map<string, number>> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(Date.now() * 1000 + day) });
  return new Map(counts.map(({ labeler, applied, removed }) => [labeler, applied + removed]));
}

async function gapsOf({ store }: LabelStation, source: string) {
  const { startedAt: start } = await store.epoch();
  const found = await store.gaps({ start, end: micros(Date.now() * 1000 + day), source });
  return found.filter((gap) => gap.source === source);
}

const deny = (folder: string, operand: string) =>
  changeDenyFile(folder, (list) =>
    list.with({ target: parseDenyTarget(operand), reason: null, since: formatTimestamp(Date.now()), purge: null }),
  );
const allow = (folder: string, operand: string) =>
  changeDenyFile(folder, (list) => list.without(parseDenyTarget(operand)));

const deniedCaveats = async (station: LabelStation) =>
  (await station.overview()).caveats.filter((text) => text.includes('denied'));

describe('a denied labeler', () => {
  test('leaves the enrolment immediately with a gap, is not discovered again, and is read from its position once it is allowed', async () => {
    const { station, hostile, honest } = await observe();
    await deny(station.folder, hostile.did);
    await until('the enrolment has changed', async () => (await station.overview()).coverage.sources.enrolled === 2);
    const noticed = Date.now() * 1000;
    const { coverage, top_labelers_7d: top } = await station.published();
    // The denied labeler is not counted, although discovery reports that labeler every second.
    expect(coverage.sources).toMatchObject({ enrolled: 2, established: 2, seeded: 0, refused: 0, unavailable: 0 });
    expect(await deniedCaveats(station)).toEqual([
      '1 labeler is denied by the operator of this instrument and not read.',
    ]);
    const [gap, ...others] = await gapsOf(station, hostile.did);
    expect(others).toEqual([]);
    expect(gap).toMatchObject({ reason: 'source_unavailable' });
    // It begins when the labeler was last complete, and the first labels were read before that.
    expect(gap?.start).toBeGreaterThan((await station.store.epoch()).startedAt);
    expect(gap?.start).toBeLessThan(noticed);
    // The labeler's rows stay stored, and no new rows are added.
    expect(top.map(({ labeler_did: did }) => did)).toContain(hostile.did);
    hostile.faults.emit(7);
    honest.faults.emit(7);
    await until('the labels of the honest one are stored', async () => (await rows(station)).get(honest.did) === 12);
    expect((await rows(station)).get(hostile.did)).toBe(5);

    await allow(station.folder, hostile.did);
    await until('the labels since the denial are stored', async () => (await rows(station)).get(hostile.did) === 12);
    await until('all labelers are enrolled', async () => (await station.overview()).coverage.sources.enrolled === 3);
    await until('its gap is withdrawn', async () => (await gapsOf(station, hostile.did)).length === 0);
    expect(await deniedCaveats(station)).toEqual([]);
    const refusals = await station.store.refusals({
      start: (await station.store.epoch()).startedAt,
      end: micros(Date.now() * 1000 + day),
    });
    expect(refusals.filter(({ source, reason }) => source === hostile.did && reason !== 'duplicate')).toEqual([]);
  });

  test('stays denied after a restart, with a gap that begins when it was last complete', async () => {
    const { station, hostile, given } = await observe();
    await deny(station.folder, hostile.did);
    await until('the gap is recorded', async () => (await gapsOf(station, hostile.did)).length === 1);
    const [begun] = await gapsOf(station, hostile.did);
    await station.stop();
    const again = await startStation(given, { folder: station.folder });
    stage.station = again;
    await until('the others are established', async () => (await again.overview()).coverage.sources.established === 2);
    expect((await again.published()).coverage.sources.enrolled).toBe(2);
    hostile.faults.emit(3);
    const [gap, ...others] = await gapsOf(again, hostile.did);
    expect(others).toEqual([]);
    expect(gap?.start).toBe(begun?.start);
    expect(gap?.end).toBeGreaterThan(begun?.end ?? Number.POSITIVE_INFINITY);
    expect((await rows(again)).get(hostile.did)).toBe(5);
  });

  test('can be denied through its domain, together with every other labeler of that domain', async () => {
    const { station } = await observe();
    await deny(station.folder, '127.0.0.1');
    await until('the enrolment has changed', async () => (await station.overview()).coverage.sources.enrolled === 0);
    expect(await deniedCaveats(station)).toEqual([
      '3 labelers are denied by the operator of this instrument and not read.',
    ]);
    await allow(station.folder, '127.0.0.1');
    await until('all are established', async () => (await station.overview()).coverage.sources.established === 3);
  });
});

test('a seed that was denied before the first start is added as a seed once it is allowed', async () => {
  stage.sim = createSim({ rate: 1, historyHours: 0, labelers: 2, labelRate: 0 });
  const { plc, relays } = await stage.sim.start();
  const [seed = '', second = ''] = stage.sim.labelers.list.map(({ did }) => did);
  const folder = folderInTest();
  await deny(folder, seed);
  const station = await startStation({ seeds: [seed, second], plc: plc ?? '', relays }, { folder });
  stage.station = station;
  await until('the other is established', async () => (await station.overview()).coverage.sources.established === 1);
  await allow(folder, seed);
  await until('both are established', async () => (await station.overview()).coverage.sources.established === 2);
  expect((await station.overview()).coverage.sources).toMatchObject({ enrolled: 2, seeded: 2, discovered: 0 });
});

test('a denied labeler that no seed or relay names is added once the operator allows it', async () => {
  stage.sim = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    shapeLabeler: () => ({ relays: [] }),
  });
  const { plc, relays } = await stage.sim.start();
  const [only = ''] = stage.sim.labelers.list.map(({ did }) => did);
  const folder = folderInTest();
  await deny(folder, only);
  const station = await startStation({ seeds: [], plc: plc ?? '', relays }, { folder });
  stage.station = station;
  expect((await station.published()).coverage.sources.enrolled).toBe(0);
  await allow(folder, only);
  await until('it is established', async () => (await station.overview()).coverage.sources.established === 1);
  expect((await station.overview()).coverage.sources).toMatchObject({ enrolled: 1, seeded: 0, discovered: 1 });
});

describe('the purge of a denied labeler’s rows', () => {
  const requestPurge = (folder: string, did: string) =>
    changeDenyFile(folder, (list) => {
      const entry = list.entryOf({ kind: 'did', did });
      if (!entry) throw new Error('the labeler is not denied');
      return list.with({ ...entry, purge: formatTimestamp(Date.now()) });
    });

  test('does not affect other labelers, causes a caveat and a gap, and no removed row is stored again', async () => {
    // The pages fail at first, so that the rows come from the stream, and the pages repeat all of them later.
    const { station, hostile, honest } = await observe({
      prepare: ({ faults }) => faults.answer({ kind: 'status', status: 500 }, { on: 'query' }),
    });
    await deny(station.folder, hostile.did);
    await requestPurge(station.folder, hostile.did);
    await until('the removal has ended', async () => (await station.store.purges())[0]?.completedAt != null);
    honest.faults.emit(2);
    await until('the labels of the honest one are stored', async () => (await rows(station)).get(honest.did) === 7);
    expect((await rows(station)).get(hostile.did)).toBeUndefined();
    const { counts, caveats, top_labelers_7d: top } = await station.published();
    expect(counts.labelers_active_window).toBe(2);
    expect(top.map(({ labeler_did: did }) => did)).not.toContain(hostile.did);
    const today = new Date().toISOString().slice(0, 10);
    expect(caveats).toContain(`Rows of 1 labeler were removed at the operator's request, the last on ${today}.`);
    expect((await gapsOf(station, hostile.did)).map(({ reason }) => reason)).toContain('maintenance');
    for await (const { problems } of station.store.verify()) expect(problems).toEqual([]);

    await allow(station.folder, hostile.did);
    hostile.faults.heal();
    hostile.faults.emit(4);
    // Only the four new labels are stored: the pages repeat the removed rows, which were authored before the request.
    let [stored, sources]: [number | undefined, object] = [undefined, {}];
    await until(
      () => `its new labels are stored: ${stored} are, the sources are ${JSON.stringify(sources)}`,
      async () => {
        stored = (await rows(station)).get(hostile.did);
        sources = (await station.overview()).coverage.sources;
        return stored === 4;
      },
    );
  });

  test('begins at the next start if no instrument was running', async () => {
    const { station, hostile, given } = await observe();
    await station.stop();
    await deny(station.folder, hostile.did);
    await requestPurge(station.folder, hostile.did);
    const again = await startStation(given, { folder: station.folder });
    stage.station = again;
    await until('the removal has ended', async () => (await again.store.purges())[0]?.completedAt != null);
    expect((await rows(again)).get(hostile.did)).toBeUndefined();
  });
});

describe('a damaged list of denied labelers', () => {
  test('leaves the last valid list in force while the instrument is running', async () => {
    const { station, hostile } = await observe();
    await deny(station.folder, hostile.did);
    await until('the enrolment has changed', async () => (await station.overview()).coverage.sources.enrolled === 2);
    writeFileSync(denyPath(station.folder), '{"denied": [');
    await station.published();
    await station.published();
    expect((await station.published()).coverage.sources.enrolled).toBe(2);
  });

  test('prevents the instrument from starting, with a one-line error that contains a remedy', async () => {
    const { station, given } = await observe();
    await station.stop();
    writeFileSync(denyPath(station.folder), 'null');
    await expect(startStation(given, { folder: station.folder, log: silentLog })).rejects.toThrow(
      `the list of denied labelers ${denyPath(station.folder)} is invalid: the file has no "denied" array; correct it or ` +
        'restore a copy, or move it aside to deny no labeler',
    );
  });
});
