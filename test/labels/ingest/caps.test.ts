import { appendFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { awayFromMidnight, labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { formatMicros } from '../../../src/contract/timestamp.ts';
import type { LabelsSettings } from '../../../src/labels/assembly/foundation.ts';
import { changeDenyFile, parseDenyTarget } from '../../../src/labels/operator/deny-file.ts';
import { readPosition } from '../../../src/labels/state/reading-events.ts';
import { day, micros } from '../../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

/** Starts labelers that emit only on request, and the instrument with low limits. */
async function observe(labelers: number, settings: Partial<LabelsSettings>) {
  stage.passed = awayFromMidnight();
  stage.sim = createSim({
    rate: 1,
    historyHours: 0,
    labelers,
    labelRate: 0,
    clock: () => Date.now() + stage.passed / 1000,
  });
  const { plc, relays } = await stage.sim.start();
  const { list } = stage.sim.labelers;
  const given = { seeds: list.map(({ did }) => did), plc: plc ?? '', relays, ...settings };
  const started = await startStation(given, { wall, monotonic });
  stage.station = started;
  return { list, station: started, given };
}

/** Returns the two labelers of a list, in order. */
function pair(list: readonly Labeler[]): [Labeler, Labeler] {
  const [a, b] = list;
  if (!a || !b) throw new Error('the simulation has fewer than two labelers');
  return [a, b];
}

async function rows({ store }: LabelStation): Promise<Record<string, number>> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(wall() + day) });
  return Object.fromEntries(counts.map(({ labeler, applied, removed }) => [labeler, applied + removed]));
}

/** Returns the stored cursor of a labeler's pages. */
async function cursor({ store }: LabelStation, { did }: Labeler): Promise<number | null | undefined> {
  const position = (await store.positions()).find(({ source }) => source === did);
  return position && readPosition(position.value)?.cursor;
}

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  return store.gaps({ start, end: micros(wall() + day) });
}

describe('a source that exceeds its daily share', () => {
  test('is paused until midnight, has a gap, is counted but not ranked, and does not affect other sources', async () => {
    const { list, station: observed, given } = await observe(2, { maxDailyRows: 45 });
    const [loud, calm] = pair(list);
    await until('two are established', async () => (await observed.overview()).coverage.sources.established === 2);
    // The pages that follow the opening of a stream deliver the first label again. From then on, the stream moves the
    // cursor, so that no page repeats labels, which would need room in the share.
    loud.faults.emit(1);
    await until('the stream moves the cursor', async () => (await cursor(observed, loud)) === 1);
    loud.faults.emit(39);
    calm.faults.emit(5);
    await until('the first labels are stored', async () => (await rows(observed))[loud.did] === 40);
    // Wait for the stored cursor. Without it, the pages of the next day would begin with all 50 labels.
    await until('the cursor of the pages is stored', async () => (await cursor(observed, loud)) === 40);
    // Emit few enough labels for the next day's share, even if the stream and the polls both deliver them.
    loud.faults.emit(10);
    calm.faults.emit(5);
    await until('the pause is recorded', async () => (await gaps(observed)).length > 0);
    await until('the labels of the other one are stored', async () => (await rows(observed))[calm.did] === 10);
    await until('the caveat is published', async () =>
      (await observed.overview()).caveats.includes(
        '1 of 2 labelers that this instrument follows is paused until midnight UTC, because it used up a daily allowance of at most 45 labels; ' +
          '1 labeler that was paused within 7 days is not ranked.',
      ),
    );
    const stored = (await rows(observed))[loud.did] ?? 0;
    expect(stored).toBeLessThanOrEqual(45);
    // Wait for a later artifact, because an earlier one may lack the other labeler's last labels.
    expect((await observed.published()).top_labelers_7d).toEqual([{ labeler_did: calm.did, count: 10 }]);
    const [begun] = await gaps(observed);
    await until('the gap is longer', async () => ((await gaps(observed))[0]?.end ?? 0) > (begun?.end ?? 0));
    expect(await gaps(observed)).toMatchObject([{ source: loud.did, reason: 'ingest_paused', start: begun?.start }]);

    // A restart does not renew the daily share.
    await observed.stop();
    stage.station = await startStation(given, { folder: observed.folder, wall, monotonic });
    const again = stage.station;
    await until('acceptance is paused again', async () =>
      (await again.overview()).caveats.some((text) =>
        text.startsWith('1 of 2 labelers that this instrument follows is paused'),
      ),
    );
    expect((await rows(again))[loud.did]).toBe(stored);

    const lastDay = Math.floor(wall() / day);
    stage.passed += (lastDay + 1) * day - wall();
    await until('the delayed labels are stored', async () => (await rows(again))[loud.did] === loud.edge);
    await until('acceptance is no longer paused', async () =>
      (await again.overview()).caveats.includes('1 labeler that was paused within 7 days is not ranked.'),
    );
    // The source is still unranked, because its counts for the week are incomplete.
    expect((await again.overview()).top_labelers_7d).toEqual([{ labeler_did: calm.did, count: 10 }]);
  });
});

test('a labeler that used up its share is no longer counted as paused once it is denied', async () => {
  const { list, station: observed } = await observe(2, { maxDailyRows: 45 });
  const [loud] = pair(list);
  await until('two are established', async () => (await observed.overview()).coverage.sources.established === 2);
  loud.faults.emit(1);
  await until('the first label is stored', async () => (await rows(observed))[loud.did] === 1);
  loud.faults.emit(50);
  const caveat = async (text: string) => (await observed.overview()).caveats.some((one) => one.includes(text));
  await until('it is paused', () => caveat('1 of 2 labelers that this instrument follows is paused'));
  await changeDenyFile(observed.folder, (entries) =>
    entries.with({ target: parseDenyTarget(loud.did), reason: null, since: formatMicros(wall()), purge: null }),
  );
  await until('it is denied', () => caveat('1 labeler is denied by the operator'));
  await until('it is not counted as paused', async () => !(await caveat('that this instrument follows is paused')));
});

test('labelers above the maximum number wait, are counted separately, and take over the reading slot of a labeler that leaves', async () => {
  const { list, station: observed } = await observe(3, { maxLabelers: 2 });
  const sources = async () => (await observed.overview()).coverage.sources;
  await until('two are read', async () => (await sources()).established === 2);
  expect(await sources()).toMatchObject({ enrolled: 2, established: 2 });
  await until('the caveat is published', async () =>
    (await observed.overview()).caveats.includes(
      '1 of 3 labelers waits, because the maximum number of labelers is already being read.',
    ),
  );
  const read = list.filter(({ streams }) => streams.length > 0);
  expect(read).toHaveLength(2);
  const [leaving] = read;
  if (!leaving) throw new Error('no labeler is read by stream');
  stage.sim?.labelers.directory.set(leaving.did, 'no_service');
  // Make the labeler stop responding, so that its document is read.
  await leaving.faults.dead();
  const third = list.find((labeler) => !read.includes(labeler));
  await until('the third labeler is read', () => (third?.streams.length ?? 0) > 0);
  await until('the waiting has ended', async () => !(await observed.overview()).caveats.join().includes('wait'));
  await until('two are counted', async () => (await sources()).enrolled === 2 && (await sources()).established === 2);
});

test('while the disk is low on space, the instrument accepts no labels, and publishes a caveat and a gap; later it resumes', async () => {
  const folder = '/dev/shm';
  const { bavail, bsize } = await statfs(folder);
  const filler = join(folder, `almanac-${process.pid}-filler`);
  // Keep a margin of 128 MB, because other processes also write and remove files on this disk.
  const { list, station: observed } = await observe(1, { folder, minFreeBytes: bavail * bsize - 128_000_000 });
  const [labeler] = list;
  await until('the labeler is established', async () => (await observed.overview()).coverage.sources.established === 1);
  try {
    for (let part = 0; part < 8; part += 1) await appendFile(filler, Buffer.alloc(32_000_000, 1));
    const paused = async () => (await observed.overview()).caveats.some((text) => text.includes('(disk_low)'));
    labeler?.faults.emit(1);
    await until('acceptance is paused', async () => {
      if (!(await paused())) labeler?.faults.emit(1);
      return paused();
    });
    labeler?.faults.emit(7);
    await until('the gap is recorded', async () => (await gaps(observed)).length === 1);
    const held = Object.values(await rows(observed))[0] ?? 0;
    expect(held).toBeLessThan(labeler?.edge ?? 0);
    const [begun] = await gaps(observed);
    expect(begun).toMatchObject({ source: null, reason: 'ingest_paused' });
    await until('the gap is longer', async () => ((await gaps(observed))[0]?.end ?? 0) > (begun?.end ?? 0));
  } finally {
    await rm(filler, { force: true });
  }
  await until('all labels are stored', async () => Object.values(await rows(observed))[0] === labeler?.edge);
  await until(
    'the artifact has no caveat',
    async () => !(await observed.overview()).caveats.join().includes('disk_low'),
  );
  expect(await gaps(observed)).toHaveLength(1);
});
