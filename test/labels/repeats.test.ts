import { expect, test } from 'vitest';
import { labelStage } from '../../harness/labels/label-stage.ts';
import { startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { countRows } from '../../harness/store/scan.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

/** Creates a network with one labeler that has no labels yet. */
async function network(software: 'skyware' | 'ozone' = 'skyware') {
  const { labeler, plc } = await stage.oneLabeler({ software, didWeb: false, oddShare: 0 });
  const settings = { seeds: [labeler.did], plc };
  const start = async (folder?: string) => {
    const station = await startStation(settings, { ...(folder === undefined ? {} : { folder }), wall, monotonic });
    stage.station = station;
    const rows = () => countRows(station.store);
    const stored = (count: number) => until(`${count} rows`, async () => (await rows()) === count);
    const published = async () => {
      const { counts, top_labelers_7d: top, caveats } = await station.published();
      const said = caveats.filter((caveat) => caveat.includes('repeat known labels'));
      return { events: counts.events_window, day: counts.events_24h, top: top.map(({ count }) => count), said };
    };
    return { ...station, stored, published };
  };
  return { labeler, start };
}

const caveat = (rows: number): string[] => [
  `${rows} rows of the window, from 1 labeler that changed its key, repeat known labels with a new date: they are stored, ` +
    'but not counted as new events.',
];

test('labels that are signed again with a new key and a new date are stored, and do not count as new events', async () => {
  const { labeler, start } = await network();
  const station = await start();
  labeler.faults.emit(300);
  await station.stored(300);
  labeler.faults.signAgain(250);
  await station.stored(550);
  labeler.faults.emit(20);
  await station.stored(570);
  expect(await station.published()).toEqual({ events: 320, day: 320, top: [320], said: caveat(250) });
});

test('the counts stay exact after a restart while a labeler signs its labels again', async () => {
  const { labeler, start } = await network();
  const first = await start();
  labeler.faults.emit(300);
  await first.stored(300);
  labeler.faults.signAgain(150);
  await first.stored(450);
  await first.stop();
  // Publish the remaining repeats while no process is reading. The next process reads some stored rows again.
  labeler.faults.repeat(Array.from({ length: 130 }, (_, i) => 21 + i));
  labeler.faults.emit(7);
  const second = await start(first.folder);
  await second.stored(587);
  expect(await second.published()).toEqual({ events: 307, day: 307, top: [307], said: caveat(280) });
});

test('after a change of key, fewer than 100 repeats count as events', async () => {
  const { labeler, start } = await network();
  const station = await start();
  labeler.faults.emit(120);
  await station.stored(120);
  labeler.faults.signAgain(99);
  await station.stored(219);
  expect(await station.published()).toEqual({ events: 219, day: 219, top: [219], said: [] });
});

test('without a change of key, any number of repeats count as events', async () => {
  const { labeler, start } = await network();
  const station = await start();
  labeler.faults.emit(200);
  await station.stored(200);
  labeler.faults.repeat(Array.from({ length: 200 }, (_, i) => 1 + i));
  await station.stored(400);
  expect(await station.published()).toEqual({ events: 400, day: 400, top: [400], said: [] });
});

test('labels that are signed again with their old dates are duplicates and cause no caveat', async () => {
  const { labeler, start } = await network();
  const station = await start();
  labeler.faults.emit(200);
  await station.stored(200);
  labeler.faults.signAgain(150, { newCts: false });
  labeler.faults.emit(1);
  await station.stored(201);
  expect(await station.published()).toEqual({ events: 201, day: 201, top: [201], said: [] });
});
