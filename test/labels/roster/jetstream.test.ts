import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';

const stage = labelStage();

test.each(['jetstream', 'jetstreamHost'] as const)(
  'a labeler is found by its record, and its changed document is read (address format: %s)',
  async (wire) => {
    const made = createSim({
      // An announcement replaces the next event of the stream, so the stream needs frequent events.
      ...{ rate: 200, historyHours: 0, labelers: 1, labelRate: 0 },
      shapeLabeler: () => ({ software: 'skyware', seeded: false, relays: [] }),
    });
    stage.sim = made;
    const addresses = await made.start();
    const { directory, list } = made.labelers;
    const did = list[0]?.did ?? '';
    const station = await startStation({ seeds: [], plc: addresses.plc ?? '', jetstream: addresses[wire] });
    stage.station = station;
    const enrolled = async () => (await station.store.roster()).some((row) => row.did === did && row.enrolled);
    // Repeat the announcement until the instrument receives it, because the first connection receives only new events.
    await until('the labeler is enrolled', async () => {
      made.labelers.declare(did);
      return enrolled();
    });
    expect((await station.store.roster()).map(({ provenance }) => provenance)).toEqual([['jetstream']]);
    directory.set(did, 'no_service');
    made.labelers.announceIdentity(did);
    await until('the labeler has left the enrolment', async () => !(await enrolled()));
  },
);

test('a document that appears after its event is read without a further event, for a new labeler and a known one', async () => {
  const made = createSim({
    ...{ rate: 200, historyHours: 0, labelers: 2, labelRate: 0 },
    shapeLabeler: () => ({ software: 'skyware', seeded: false, relays: [] }),
  });
  stage.sim = made;
  const { plc, jetstream } = await made.start();
  const { directory, list } = made.labelers;
  const [first, second] = list;
  if (first === undefined || second === undefined) throw new Error('the simulation has fewer than two labelers');
  const station = await startStation({ seeds: [], plc: plc ?? '', jetstream });
  stage.station = station;
  const rowOf = async ({ did }: { readonly did: string }) =>
    (await station.store.roster()).find((row) => row.did === did);
  await until('the instrument receives events', async () => {
    made.labelers.declare(first.did);
    return (await rowOf(first))?.enrolled === true;
  });
  directory.lag(second.did, { requests: 1 });
  made.labelers.declare(second.did);
  await until('the new labeler is enrolled', async () => (await rowOf(second))?.enrolled === true);
  expect(directory.fired.get('no_document')).toBe(1);
  const endpoint = second.endpoint;
  await second.faults.move();
  directory.lag(second.did, { requests: 1, state: 'whole', endpoint });
  made.labelers.announceIdentity(second.did);
  await until('the new endpoint is known', async () => (await rowOf(second))?.endpoint === second.endpoint);
  expect(second.endpoint).not.toBe(endpoint);
});
