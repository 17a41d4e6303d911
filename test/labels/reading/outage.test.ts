import { describe, expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import { maxLateness } from '../../../src/labels/ingest/admission.ts';
import { labelerFromRow } from '../../../src/labels/roster/known-labeler.ts';
import { day, hour, micros, minute } from '../../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

async function rows({ store }: LabelStation): Promise<number> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(wall() + day) });
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  return store.gaps({ start, end: micros(wall() + day) });
}

/** A labeler of which five labels are stored, out of reach from then on. */
async function outOfReach(shape: Partial<LabelerProfile>) {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
    clock: () => Date.now() + stage.passed / 1000,
    shapeLabeler: () => shape,
  });
  stage.sim = made;
  const { plc } = await made.start();
  const [labeler] = made.labelers.list;
  if (!labeler || plc === null) throw new Error('a labeler was asked for');
  const observed = await startStation({ seeds: [labeler.did], plc }, { wall, monotonic });
  stage.station = observed;
  const { startedAt } = await observed.store.epoch();
  // What lies before its first frame could not be had of one that answers no queries, once it was looked for: not of this
  // outage.
  await until('all that lies before is read, or given up', async () =>
    (await observed.store.roster()).some(
      (row) => (labelerFromRow(row, null).tracker.unreadSince ?? startedAt) > startedAt,
    ),
  );
  const before = await gaps(observed);
  labeler.faults.emit(5);
  await until('the first labels', async () => (await rows(observed)) === 5);
  const established = async () => (await observed.overview()).coverage.sources.established === 1;
  await until('established', established);
  await labeler.faults.dead();
  // A page that was on its way is accepted first: time passes for nothing that is still under way.
  await until('the outage is noticed', async () => !(await established()));
  return { labeler, observed, before };
}

describe.each([
  ['a stream and pages', {}],
  ['pages alone', { ailment: 'no_stream' }],
  ['a stream alone', { ailment: 'no_query' }],
] as const)('a labeler with %s that was out of reach', (_, shape) => {
  test('for two hours and is read on from where it was: all is stored, and its gap is taken back', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await until('the gap', async () => (await gaps(observed)).length > before.length);
    const gap = (await gaps(observed)).at(-1);
    expect(gap).toMatchObject({ source: labeler.did, reason: 'source_unavailable' });
    expect((gap?.end ?? 0) - (gap?.start ?? 0)).toBeGreaterThan(2 * hour - minute);
    await labeler.faults.revive();
    await until('all that was missed', async () => (await rows(observed)) === 15);
    await until('no gap', async () => (await gaps(observed)).length === before.length);
    expect(await gaps(observed)).toEqual(before);
  });

  test('for 60 hours: a gap is what is too old to be taken, and no more', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 60 * hour;
    labeler.faults.emit(4);
    await until('the gap', async () => (await gaps(observed)).length > before.length);
    const start = (await gaps(observed)).at(-1)?.start ?? 0;
    await labeler.faults.revive();
    await until('what is not too old', async () => (await rows(observed)) === 9);
    const latest = async () => (await gaps(observed)).at(-1);
    await until('the rest is taken back', async () => ((await latest())?.end ?? 0) <= wall() - maxLateness);
    const gap = await latest();
    expect(gap).toMatchObject({ source: labeler.did, reason: 'source_unavailable', start });
    expect(wall() - maxLateness - (gap?.end ?? 0)).toBeLessThan(minute);
    expect(await gaps(observed)).toHaveLength(before.length + 1);
  });
});

// By one way at a time: with both, what is stored does not say how far reading has come (samples of a search are stored
// before it begins, and the other way may know already that nothing is left), so the two days would pass at any moment.
describe.each([
  ['pages alone', { ailment: 'no_stream' }],
  ['a stream alone', { ailment: 'no_query' }],
] as const)('a labeler with %s that was out of reach', (_, shape) => {
  test('for two hours, and long looked at no more: what was read in time is no gap by then', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await until('the gap', async () => (await gaps(observed)).length > before.length);
    // The labeler answers slowly, so that the rows are stored well before the next answer shows that they were the last.
    labeler.faults.delayed(1_000);
    await labeler.faults.revive();
    await until('all that was missed', async () => (await rows(observed)) === 15);
    // Two days pass before the reader knows that it has everything.
    stage.passed += 49 * hour;
    await until('no gap', async () => (await gaps(observed)).length === before.length);
    expect(await gaps(observed)).toEqual(before);
  });
});
