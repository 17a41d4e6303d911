import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { awayFromMidnight } from '../../../harness/labels/label-stage.ts';
import { removeStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import { day, micros } from '../../../src/store/time.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts a labeler without labels, whose responses have the date that `clock` returns, in milliseconds. */
async function startStranger(clock: () => number) {
  const pages = { count: 0 };
  const server = createServer((request, response) => {
    const isPage = request.url?.includes('queryLabels') === true;
    if (isPage) pages.count += 1;
    response.writeHead(isPage ? 200 : 404, {
      'Content-Type': 'application/json',
      Date: new Date(clock()).toUTCString(),
    });
    response.end('{"labels":[]}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pages };
}

test('a labeler whose responses agree with a wrong clock does not confirm the clock, so that no label is stamped with the wrong time', async () => {
  const ahead = awayFromMidnight();
  let offset = 0;
  const present = () => Date.now() * 1000 + ahead;
  const wall = () => micros(present() + offset);
  const stranger = await startStranger(() => wall() / 1000);
  const did = 'did:plc:strangerstrangerstranger';
  const sim = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    clock: () => present() / 1000,
  });
  cleanups.push(() => sim.stop());
  const { plc, relays } = await sim.start();
  sim.labelers.directory.others = (asked) =>
    asked === did
      ? {
          id: did,
          service: [{ id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: stranger.endpoint }],
        }
      : null;
  const [labeler] = sim.labelers.list;
  if (!labeler) throw new Error('the simulation has no labeler');
  const station = await startStation({ seeds: [labeler.did, did], plc: plc ?? '', relays }, { wall });
  cleanups.push(async () => {
    await station.stop();
    removeStation(station);
  });
  await until('both are read', async () => (await station.overview()).coverage.sources.established === 2);
  offset = 40 * day;
  const { count } = stranger.pages;
  labeler.faults.emit(5);
  await until('the stranger responds with that time', () => stranger.pages.count > count);
  await until('the pause is published', async () =>
    (await station.published()).caveats.some((caveat) => caveat.includes('clock_doubtful')),
  );
  expect((await station.store.frontier()).observedThrough ?? 0).toBeLessThan(present() + day);
});
