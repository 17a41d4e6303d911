import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { quickTimings, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';

const stage = labelStage();

test('definitions from the labeler’s host or the Jetstream are stored with their date, and handles with their confirmation', async () => {
  const made = createSim({ rate: 1, historyHours: 0, labelers: 3, labelRate: 0 });
  stage.sim = made;
  const { plc, jetstream } = await made.start();
  const [quiet, told, without] = made.labelers.list;
  if (!quiet || !told || !without) throw new Error('the simulation has fewer than three labelers');
  // Two labelers have no record at their host, but the Jetstream reports a new record of one of the two.
  made.labelers.pds.records.delete(told.did);
  made.labelers.pds.records.delete(without.did);
  const seeds = [quiet, told, without].map(({ did }) => did);
  const resolveTxt = async (name: string) => {
    const of = seeds.find((did) => name === `_atproto.labeler-${did.slice(8, 14)}.example.com`);
    return [[`did=${of === told.did ? without.did : of}`]];
  };
  const begun = Date.now() * 1000;
  // Use a long timeout, because a host that does not respond in time is asked again only a day later.
  const timings = { ...quickTimings, requestMs: 60_000 };
  const observed = await startStation({ seeds, plc: plc ?? '', jetstream, timings }, { resolveTxt });
  stage.station = observed;
  await until('the definitions are stored', async () => (await observed.store.definitions(quiet.did)).length === 1);
  // Repeat the event, because a new connection does not receive earlier events.
  await until('the event is read', async () => {
    made.labelers.declare(told.did);
    return (await observed.store.definitions(told.did)).length === 1;
  });
  const [definitions] = await observed.store.definitions(quiet.did);
  expect(JSON.parse(definitions?.content ?? '')).toMatchObject({ labelValues: quiet.profile.values });
  expect(definitions?.seenAt).toBeGreaterThanOrEqual(begun);
  expect(await observed.store.definitions(without.did)).toEqual([]);

  const handles = async () => new Map((await observed.store.roster()).map((row) => [row.did, row.handle?.confirmed]));
  const expected = new Map([
    [quiet.did, true],
    [told.did, false],
    [without.did, true],
  ]);
  const sorted = (map: ReadonlyMap<string, unknown>) => JSON.stringify([...map].sort());
  await until('the names are stored', async () => sorted(await handles()) === sorted(expected));
  const row = (await observed.store.roster()).find(({ did }) => did === quiet.did);
  expect(row?.handle?.name).toBe(`labeler-${quiet.did.slice(8, 14)}.example.com`);
});
