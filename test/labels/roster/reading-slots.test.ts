import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, quickTimings, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import type { LabelsSettings } from '../../../src/labels/assembly/foundation.ts';
import { day, micros } from '../../../src/store/time.ts';

const stage = labelStage();

/**
 * Creates a network of sixteen labelers, in the order of their DIDs. With `unlisted`, no relay lists the labeler
 * `last`.
 */
async function network({ unlisted = false } = {}) {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 16, labelRate: 0 },
    shapeLabeler: ({ index }) => ({ relays: unlisted && index === 15 ? [] : [0] }),
  });
  stage.sim = made;
  const { plc, relays } = await made.start();
  const labelers = made.labelers.list.toSorted((a, b) => (a.did < b.did ? -1 : 1));
  for (const { faults } of labelers) faults.emit(3);
  const observe = async (settings: Partial<LabelsSettings>, folder?: string) => {
    const started = await startStation(
      {
        plc: plc ?? '',
        relays,
        seeds: [],
        timings: { ...quickTimings, tailMs: 300 },
        ...settings,
      },
      folder === undefined ? {} : { folder },
    );
    stage.station = started;
    return started;
  };
  return { labelers, observe, last: made.labelers.list[15]?.did ?? '' };
}

async function established({ overview }: LabelStation): Promise<number> {
  return (await overview()).coverage.sources.established;
}

/** Returns the DIDs of the labelers whose streams are open. */
const readNow = (labelers: Awaited<ReturnType<typeof network>>['labelers']) =>
  labelers.filter(({ streams }) => streams.length > 0).map(({ did }) => did);

test('all seeds are read after a restart with fewer reading slots, and labelers that lost their slot have a gap', async () => {
  const { labelers, observe } = await network();
  const first = await observe({});
  await until('all are read', async () => (await established(first)) === 16);
  await first.stop();
  const seeds = labelers.slice(-4).map(({ did }) => did);
  const second = await observe({ seeds, maxLabelers: 6 }, first.folder);
  await until('six are read', () => readNow(labelers).length === 6);
  expect(readNow(labelers)).toEqual(expect.arrayContaining(seeds));
  const waiting = labelers.map(({ did }) => did).filter((did) => !readNow(labelers).includes(did));
  await until('their gaps are recorded', async () => {
    const { startedAt: start } = await second.store.epoch();
    const gaps = await second.store.gaps({ start, end: micros(Date.now() * 1000 + day) });
    return waiting.every((did) => gaps.some(({ source, reason }) => source === did && reason === 'ingest_paused'));
  });
  await until('the caveat is published', async () =>
    (await second.overview()).caveats.some((caveat) => caveat.startsWith('10 of 16 labelers wait')),
  );
});

test('a labeler that lost its reading slot is not enrolled and has a gap up to now, before its gap is recorded again', async () => {
  const { labelers, observe, last: seed } = await network({ unlisted: true });
  const first = await observe({ maxLabelers: 5 });
  await until('five are read', async () => (await established(first)) === 5);
  const held = readNow(labelers);
  // The gaps of a labeler count if it has events. Those from before the start are skipped.
  for (const { did, faults } of labelers) if (held.includes(did)) faults.emit(1);
  await until('an event of each is stored', async () => {
    const { startedAt: start } = await first.store.epoch();
    const counts = await first.store.countsByLabeler({ start, end: micros(Date.now() * 1000 + day) });
    return counts.length === 5;
  });
  await first.stop();
  // The gap is recorded when the labeler loses its slot, and then after an hour.
  const timings = { ...quickTimings, tailMs: 3_600_000 };
  const second = await observe({ maxLabelers: 5, seeds: [seed], timings }, first.folder);
  await until('the seed is read', async () => readNow(labelers).includes(seed) && (await established(second)) === 5);
  const [displaced = ''] = held.filter((did) => !readNow(labelers).includes(did));
  await until('its row is stored', async () =>
    (await second.store.roster()).some(({ did, enrolled }) => did === displaced && !enrolled),
  );
  const { coverage, generated_at } = await second.published();
  expect(coverage.gaps.filter(({ end }) => end === generated_at).map(({ reason }) => reason)).toEqual([
    'ingest_paused',
  ]);
});

test('a seed that is found while all reading slots are taken displaces exactly one new source', async () => {
  const { labelers, observe, last: seed } = await network({ unlisted: true });
  const observed = await observe({ maxLabelers: 5 });
  await until('five are read', async () => (await established(observed)) === 5);
  const held = readNow(labelers);
  await observed.stop();
  await observe({ maxLabelers: 5, seeds: [seed] }, observed.folder);
  await until('the seed is read', () => readNow(labelers).includes(seed) && readNow(labelers).length === 5);
  expect(readNow(labelers).filter((did) => held.includes(did))).toHaveLength(4);
});
