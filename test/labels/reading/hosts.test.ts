import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, quickTimings, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import type { LabelsSettings } from '../../../src/labels/assembly/foundation.ts';
import { day, micros } from '../../../src/store/time.ts';

const stage = labelStage();

/** Starts twelve labelers of one host, one labeler of another host, and the instrument. */
async function observe(shape: Partial<LabelerProfile>, settings: Partial<LabelsSettings> = {}) {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 13, labelRate: 0 },
    shapeLabeler: () => ({ software: 'skyware', ...shape }),
  });
  stage.sim = made;
  const { plc } = await made.start();
  const [shared, alone, ...others] = made.labelers.list as [Labeler, Labeler, ...Labeler[]];
  for (const { did } of others) made.labelers.directory.point(did, shared.endpoint);
  return {
    shared,
    alone,
    async start() {
      const seeds = made.labelers.list.map(({ did }) => did);
      const started = await startStation({ seeds, plc: plc ?? '', ...settings });
      stage.station = started;
      return started;
    },
  };
}

async function rows({ store }: LabelStation, labeler: string): Promise<number> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(Date.now() * 1000 + day) });
  const found = counts.find((count) => count.labeler === labeler);
  return (found?.applied ?? 0) + (found?.removed ?? 0);
}

test('labelers of one host share the maximum number of streams per host, and labelers without a stream are polled', async () => {
  const { shared, alone, start } = await observe({}, { maxStreamsPerHost: 3 });
  let maxStreams = 0;
  const observed = await start();
  shared.faults.emit(5);
  await until('all are read', async () => {
    const { established } = (await observed.overview()).coverage.sources;
    maxStreams = Math.max(maxStreams, shared.streams.length);
    return established === 13;
  });
  expect(maxStreams).toBe(3);
  expect(alone.streams).toHaveLength(1);
  expect(observed.hostFull.get('stream')).toBeGreaterThanOrEqual(9);
  // When a connection ends, its slot becomes free for the next request.
  const ended = new Set(shared.streams);
  shared.faults.drop('end');
  await until('three streams are open again', () => shared.streams.filter((stream) => !ended.has(stream)).length === 3);
  shared.faults.emit(5);
  await until('all labels are stored', async () => (await rows(observed, shared.did)) === shared.edge);
});

test('a slow host gets four concurrent requests and does not delay other hosts, and all of its labelers are read', async () => {
  const { shared, alone, start } = await observe({ ailment: 'no_stream' });
  shared.faults.delayed(400);
  const observed = await start();
  await until('the other host is read', async () => {
    alone.faults.emit(1);
    return (await rows(observed, alone.did)) > 5;
  });
  shared.faults.emit(2_000);
  await until('the backlog is stored', async () => (await rows(observed, shared.did)) === shared.edge);
  await until('all are read', async () => (await observed.overview()).coverage.sources.established === 13);
  expect(shared.queriesAtOnce).toBe(4);
  expect(alone.queriesAtOnce).toBe(1);
});

test('many hanging hosts do not delay reading a DID document', async () => {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 30, labelRate: 0 },
    shapeLabeler: ({ index }) => (index < 29 ? { ailment: 'no_stream' } : {}),
  });
  stage.sim = made;
  const { plc, jetstream } = await made.start();
  const hanging = made.labelers.list.slice(0, 29);
  for (const { faults } of hanging) faults.delayed(50_000);
  const late = made.labelers.list[29] as Labeler;
  const timings = { ...quickTimings, requestMs: 50_000 };
  const observed = await startStation({ seeds: hanging.map(({ did }) => did), plc: plc ?? '', jetstream, timings });
  stage.station = observed;
  await until('all requests hang', () => hanging.filter(({ queriesAtOnce }) => queriesAtOnce > 0).length === 29);
  await until('the document of the new labeler is read', async () => {
    made.labelers.declare(late.did, 'update');
    return (await observed.store.roster()).some(({ did, endpoint }) => did === late.did && endpoint !== null);
  });
});
