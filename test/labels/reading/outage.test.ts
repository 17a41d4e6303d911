import { describe, expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import { admissionLimits } from '../../../src/labels/ingest/admission.ts';
import { labelerFromRow } from '../../../src/labels/roster/known-labeler.ts';
import { day, hour, micros, minute } from '../../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  return store.gaps({ start, end: micros(wall() + day) });
}

/** Makes a labeler unreachable after five of its labels have been stored. */
async function outOfReach(shape: Partial<LabelerProfile>) {
  const { labeler, plc } = await stage.oneLabeler(shape);
  const given = { seeds: [labeler.did], plc };
  const observed = await startStation(given, { wall, monotonic });
  stage.station = observed;
  const { startedAt } = await observed.store.epoch();
  // Wait until the gap before the first frame of a labeler without pages is complete, because that gap does not belong
  // to this outage.
  await until('the fill-in has ended', async () =>
    (await observed.store.roster()).some(
      (row) => (labelerFromRow(row, null).tracker.unreadSince ?? startedAt) > startedAt,
    ),
  );
  const before = await gaps(observed);
  labeler.faults.emit(5);
  await until('the first labels are stored', async () => (await countRows(observed.store)) === 5);
  const established = async () => (await observed.overview()).coverage.sources.established === 1;
  await until('the labeler is established', established);
  await labeler.faults.dead();
  // Wait until a page in progress has been accepted, so that the clock does not advance while it is being accepted.
  await until('the outage is detected', async () => !(await established()));
  return { labeler, observed, before, given };
}

describe.each([
  ['a stream and pages', {}],
  ['only pages', { ailment: 'no_stream' }],
  ['only a stream', { ailment: 'no_query' }],
] as const)('a labeler that was unreachable (%s)', (_, shape) => {
  test('is read from its stored position after two hours, so that no label is lost and its gap is withdrawn', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await until('the gap is recorded', async () => (await gaps(observed)).length > before.length);
    const gap = (await gaps(observed)).at(-1);
    expect(gap).toMatchObject({ source: labeler.did, reason: 'source_unavailable' });
    expect((gap?.end ?? 0) - (gap?.start ?? 0)).toBeGreaterThan(2 * hour - minute);
    await labeler.faults.revive();
    await until('all missed labels are stored', async () => (await countRows(observed.store)) === 15);
    await until('the gap is withdrawn', async () => (await gaps(observed)).length === before.length);
    expect(await gaps(observed)).toEqual(before);
  });

  test('has its gap withdrawn if the instrument restarts before it responds, but the gap of the restart stays', async () => {
    const { labeler, observed, before, given } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await until('the gap is recorded', async () => (await gaps(observed)).length > before.length);
    await observed.stop();
    stage.passed += hour;
    await labeler.faults.revive();
    const again = await startStation(given, { folder: observed.folder, wall, monotonic });
    stage.station = again;
    await until('all missed labels are stored', async () => (await countRows(again.store)) === 15);
    await until('the gap is withdrawn', async () => (await gaps(again)).length === before.length + 1);
    const [restart, ...others] = (await gaps(again)).filter(({ source }) => source === null);
    expect([restart?.reason, others]).toEqual(['ingest_paused', []]);
    expect((restart?.end ?? 0) - (restart?.start ?? 0)).toBeGreaterThanOrEqual(hour);
  });

  test('has a gap after 60 hours only for the time whose labels are too old', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 60 * hour;
    labeler.faults.emit(4);
    await until('the gap is recorded', async () => (await gaps(observed)).length > before.length);
    const start = (await gaps(observed)).at(-1)?.start ?? 0;
    await labeler.faults.revive();
    await until('the labels that are not too old', async () => (await countRows(observed.store)) === 9);
    const latest = async () => (await gaps(observed)).at(-1);
    await until(
      'the rest is withdrawn',
      async () => ((await latest())?.end ?? 0) <= wall() - admissionLimits.maxLateness,
    );
    const gap = await latest();
    expect(gap).toMatchObject({ source: labeler.did, reason: 'source_unavailable', start });
    expect(wall() - admissionLimits.maxLateness - (gap?.end ?? 0)).toBeLessThan(minute);
    expect(await gaps(observed)).toHaveLength(before.length + 1);
  });
});

// Use only one transport in each case. With both, the stored rows would not show the progress of reading: sampled rows
// are stored before reading begins, and the other transport may already be at the end, so the clock could advance by
// two days at any point.
describe.each([
  ['only pages', { ailment: 'no_stream' }],
  ['only a stream', { ailment: 'no_query' }],
] as const)('a labeler that was unreachable (%s)', (_, shape) => {
  test('has no gap for labels that were accepted in time, even if the reader reaches the last label two days later', async () => {
    const { labeler, observed, before } = await outOfReach({ ...shape, software: 'skyware' });
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await until('the gap is recorded', async () => (await gaps(observed)).length > before.length);
    // Delay the labeler's responses, so that the rows are stored before the next response shows that they were the last
    // rows.
    labeler.faults.delayed(1_000);
    await labeler.faults.revive();
    await until('all missed labels are stored', async () => (await countRows(observed.store)) === 15);
    // Advance the clock by two days before the reader receives the page that shows the end.
    stage.passed += 49 * hour;
    await until('the gap is withdrawn', async () => (await gaps(observed)).length === before.length);
    expect(await gaps(observed)).toEqual(before);
  });
});
