import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import { dialects } from '../../../sim/labelers/profile.ts';
import { day, micros } from '../../../src/store/time.ts';

const stage = labelStage();

test.each(
  dialects.flatMap((dialect) => (['ozone', 'skyware'] as const).map((software) => [dialect, software] as const)),
)('every label of a labeler that sends the dialect %s is stored with its signature (%s)', async (dialect, software) => {
  const { labeler, plc } = await stage.oneLabeler({ software, dialect, oddShare: 0, unordered: false });
  const observed = await startStation({ seeds: [labeler.did], plc });
  stage.station = observed;
  const { store } = observed;
  await until('the labeler is established', async () => (await observed.overview()).coverage.sources.established === 1);
  const { startedAt: start } = await store.epoch();
  const always = { start, end: micros(Date.now() * 1000 + day) };
  const stored = () => countRows(store);
  for (let burst = 0; burst < 3; burst += 1) {
    const before = await stored();
    labeler.faults.emit(7);
    await until('the labels are stored', async () => (await stored()) >= before + 7);
  }
  // The pages that close a hole contain rows that the stream has delivered.
  expect((await store.refusals(always)).filter(({ reason }) => reason !== 'duplicate')).toEqual([]);
  expect((await store.gaps(always)).map(({ reason }) => reason)).toEqual([]);
});
