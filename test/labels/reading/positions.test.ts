import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { noPosition, readPosition, writePosition } from '../../../src/labels/state/reading-events.ts';
import { openSqliteWriter } from '../../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../../src/store/time.ts';

const stage = labelStage();

test('the cursor "0" of an empty page is not used as a position, so no page is read again', async () => {
  const { labeler, plc } = await stage.oneLabeler({ software: 'skyware', ailment: 'no_stream' });
  const observed = await startStation({ seeds: [labeler.did], plc });
  stage.station = observed;
  const { store, quirks } = observed;
  const { startedAt: start } = await store.epoch();
  const always = { start, end: micros(Date.now() * 1000 + day) };
  const rows = async () => (await store.countsByLabeler(always))[0]?.applied ?? 0;
  const before = quirks.get('zero_cursor') ?? 0;
  await until('some empty pages are read', () => (quirks.get('zero_cursor') ?? 0) >= before + 4);
  // The first page is full, so the next page is empty.
  const read = quirks.get('zero_cursor') ?? 0;
  labeler.faults.emit(250);
  await until(
    'an empty page is read after the first',
    async () => (quirks.get('zero_cursor') ?? 0) > read && (await rows()) === 250,
  );
  const [position] = await store.positions();
  expect(readPosition(position?.value ?? '')?.cursor).toBe(250);
  expect(await store.refusals(always)).toEqual([]);
});

test('the first read of a labeler with huge labels stores its other labels, and refuses the huge labels as oversized', async () => {
  const { sim: made, labeler, plc } = await stage.oneLabeler({ software: 'skyware', ailment: 'no_stream' });
  made.labelers.directory.set(labeler.did, 'no_service');
  const observed = await startStation({ seeds: [labeler.did], plc });
  stage.station = observed;
  labeler.faults.labels('huge', { count: 20, bytes: 1_000_000 });
  labeler.faults.emit(5);
  const { startedAt: start } = await observed.store.epoch();
  const always = { start, end: micros(Date.now() * 1000 + day) };
  await observed.stop();
  made.labelers.directory.set(labeler.did, 'whole');
  const again = await startStation({ seeds: [labeler.did], plc }, { folder: observed.folder });
  stage.station = again;
  await until('the labels are stored', async () => (await again.store.countsByLabeler(always))[0]?.applied === 5);
  expect(await again.store.refusals(always)).toMatchObject([{ reason: 'oversized', count: 20 }]);
});

test('only the positions of a labeler’s newest endpoints are kept', async () => {
  const { labeler, plc } = await stage.oneLabeler({ software: 'skyware' });
  const { did } = labeler;
  const first = await startStation({ seeds: [did], plc });
  stage.station = first;
  await until('the labeler is established', async () => (await first.overview()).coverage.sources.established === 1);
  await first.stop();
  stage.station = null;
  const store = openSqliteWriter({ folder: join(first.folder, 'store'), at: micros(Date.now() * 1000) });
  const value = writePosition(noPosition);
  // Name the endpoints so that the alphabetical order is the reverse of the order of their ages.
  const old = Array.from({ length: 700 }, (_, i) => `https://h${900 - i}.example.com`);
  for (const [i, endpoint] of old.entries()) {
    const at = micros(Date.now() * 1000 + i);
    await store.append({ at, observations: [], refusals: [], positions: [{ source: did, endpoint, value }] });
  }
  await store.close();
  const again = await startStation({ seeds: [did], plc }, { folder: first.folder });
  stage.station = again;
  await until('the excess positions are forgotten', async () => (await again.store.positions()).length <= 4);
  const kept = (await again.store.positions()).map(({ endpoint }) => endpoint);
  expect(kept.toSorted()).toEqual([labeler.endpoint, ...old.slice(-3)].toSorted());
});
