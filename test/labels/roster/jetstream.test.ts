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
