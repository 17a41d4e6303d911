import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { awayFromMidnight, labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../../src/artifact/hours/labels-hours.ts';
import { labelerFromRow } from '../../../src/labels/roster/known-labeler.ts';
import { FilledInReader } from '../../../src/labels/state/filled-in.ts';
import { hour, micros, minute } from '../../../src/store/time.ts';

/**
 * Labels of an outage arrive together when it is over. The hours file counts them in the hour in which they were
 * accepted, and states them and the time of the outage apart, so that no rate contains them.
 */

const stage = labelStage();
const { wall, monotonic } = stage;

/** Returns the hours file that the instrument publishes after this call. */
async function hoursFile({ folder }: LabelStation): Promise<LabelsHours> {
  const since = wall() / 1000;
  const read = async (): Promise<LabelsHours> => {
    const value: unknown = JSON.parse(await readFile(join(folder, 'artifacts', 'labels-hours.json'), 'utf8'));
    const recognised = recogniseLabelsHours(value);
    if (recognised.kind !== 'recognised') throw new Error(JSON.stringify(recognised));
    return recognised.artifact;
  };
  await until('a new hours file is published', async () => Date.parse((await read()).generated_at) > since);
  return read();
}

/** Starts an instrument that has stored five labels of one labeler. */
async function observing(shape: Partial<LabelerProfile>) {
  stage.passed = awayFromMidnight();
  const { labeler, plc } = await stage.oneLabeler({ ...shape, software: 'skyware' });
  const start = (options = {}) => startStation({ seeds: [labeler.did], plc }, { wall, monotonic, ...options });
  const observed = await start();
  stage.station = observed;
  const { startedAt } = await observed.store.epoch();
  await until('the fill-in has ended', async () =>
    (await observed.store.roster()).some(
      (row) => (labelerFromRow(row, null).tracker.unreadSince ?? startedAt) > startedAt,
    ),
  );
  labeler.faults.emit(5);
  await until('the first labels are stored', async () => (await countRows(observed.store)) === 5);
  return { labeler, observed, start };
}

/** Expects that five labels belong to rates, and that the ten labels and the hours of the outage do not. */
function expectApart({ hours, labelers }: LabelsHours): void {
  const sum = (values: readonly (number | null | undefined)[]) =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const [labeler] = labelers;
  const parts = labeler?.filled_in ?? [];
  expect(sum([...(labeler?.applications ?? []), ...(labeler?.removals ?? [])])).toBe(15);
  expect(sum(parts.flatMap(({ applications, removals }) => [applications, removals]))).toBe(10);
  expect(sum(hours.map(({ filled_in: part }) => (part?.applications ?? 0) + (part?.removals ?? 0)))).toBe(10);
  const rated = sum(labeler?.observed_seconds ?? []) - sum(parts.map((part) => part.observed_seconds));
  // Of more than two hours, only the minutes before and after the outage belong to rates.
  expect(rated).toBeLessThan(30 * 60);
}

describe.each([
  ['a stream and pages', {}],
  ['only pages', { ailment: 'no_stream' }],
  ['only a stream', { ailment: 'no_query' }],
] as const)('the labels of a labeler (%s)', (_, shape) => {
  test('that was unreachable for two hours are stated apart, with the time whose gap was withdrawn', async () => {
    const { labeler, observed } = await observing(shape);
    await labeler.faults.dead();
    await until('the outage is detected', async () => (await observed.overview()).coverage.sources.established === 0);
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    await labeler.faults.revive();
    await until('all missed labels are stored', async () => (await countRows(observed.store)) === 15);
    await until('the gap is withdrawn', async () => {
      const { startedAt: start } = await observed.store.epoch();
      const gaps = await observed.store.gaps({ start: micros(start + minute), end: wall() });
      return gaps.every((gap) => gap.end - gap.start < hour);
    });
    stage.passed += 4 * minute;
    expectApart(await hoursFile(observed));
  });

  test('that arrive when the instrument restarts after two hours are stated apart', async () => {
    const { labeler, observed, start } = await observing(shape);
    await observed.stop();
    labeler.faults.emit(10);
    stage.passed += 2 * hour;
    const restarted = await start({ folder: observed.folder });
    stage.station = restarted;
    await until('all missed labels are stored', async () => (await countRows(restarted.store)) === 15);
    const spans = (await new FilledInReader().read(await restarted.store.positions())).get(labeler.did) ?? [];
    expect(spans.at(-1)?.end).toBeGreaterThan(wall() / minute);
    stage.passed += 4 * minute;
    expectApart(await hoursFile(restarted));
  });
});
