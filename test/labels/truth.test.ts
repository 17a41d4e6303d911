import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isReplaced, labelStage } from '../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim, type SimOptions } from '../../sim/index.ts';
import type { OddKind } from '../../sim/labelers/odd-labels.ts';
import type { EmittedLabel, Expected } from '../../sim/labelers/truth.ts';
import { readSeeds } from '../../src/labels/roster/labeler-lists.ts';
import { micros } from '../../src/store/time.ts';

const stage = labelStage();

/** Starts a simulated network without earlier labels, and an instrument that observes it. */
async function observe(options: SimOptions) {
  const made = createSim({ rate: 1, historyHours: 0, ...options });
  stage.sim = made;
  const { seeds, plc, relays, jetstream } = await made.start();
  const started = await startStation({
    seeds: await readSeeds(seeds ?? ''),
    plc: plc ?? '',
    relays,
    jetstream,
  });
  stage.station = started;
  return { sim: made, station: started };
}

const always = () => ({ start: micros(0), end: micros(Date.now() * 1000 + 3_600_000_000) });

/** Returns the stored rows in the form of the simulator's record. */
async function stored({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ ...always(), start });
  return new Map(counts.map(({ labeler, applied, removed }) => [labeler, { applied, removed }]));
}

async function refusals({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  const sums: Record<string, number> = {};
  for (const { reason, count } of await store.refusals({ ...always(), start }))
    sums[reason] = (sums[reason] ?? 0) + count;
  const { duplicate = 0, ...counted } = sums;
  return { duplicate, counted };
}

/**
 * Returns the expected refusals in the form of the store. Duplicates are left out, because their number depends on the
 * order of reading.
 */
function toRefuse({ refused: { foreign, duplicate: _, ...others } }: Expected) {
  return Object.fromEntries(Object.entries({ foreign_src: foreign, ...others }).filter(([, count]) => count > 0));
}

async function truth({ sim: { labelers }, station: { store } }: { sim: Sim; station: LabelStation }) {
  const { startedAt } = await store.epoch();
  return labelers.truth.expected({ epochUs: startedAt });
}

/** Ends the traffic, waits until all labels are stored or refused, and compares them with the record. */
async function settle(observed: { sim: Sim; station: LabelStation }) {
  for (const { faults } of observed.sim.labelers.list) faults.setRate(0);
  const same = async (): Promise<boolean> => {
    const expected = await truth(observed);
    const [rows, { counted }] = [await stored(observed.station), await refusals(observed.station)];
    return isDeepStrictEqual(rows, expected.byAction) && isDeepStrictEqual(counted, toRefuse(expected));
  };
  // Ignore the timeout, because the comparison below reports any remaining differences.
  await until('the rows agree with the record', same, 60_000).catch(() => undefined);
}

describe('the stored rows', () => {
  test.each([1, 2, 3])(
    "match the network's record despite injected faults, by labeler, action and account (seed %i)",
    async (seed) => {
      const observed = await observe({ seed, labelers: 30, labelRate: 150, population: 'troubled' });
      const { store } = observed.station;
      await until('some traffic is accepted', async () => (await truth(observed)).accepted > 600);
      await settle(observed);
      const expected = await truth(observed);
      expect(await stored(observed.station)).toEqual(expected.byAction);
      const { startedAt: start } = await store.epoch();
      const { end } = always();
      const accounts = [...expected.byAccount].slice(0, 200);
      for (const [account, count] of accounts) {
        const query = { account, start, end, order: 'oldest', after: null, limit: 500 } as const;
        expect((await store.readAccount(query)).rows.length).toBe(Math.min(500, count));
      }
      expect((await refusals(observed.station)).counted).toEqual(toRefuse(expected));
      const { coverage } = await observed.station.overview();
      const { enrolled, seeded, discovered } = coverage.sources;
      expect((seeded ?? 0) + (discovered ?? 0)).toBe(enrolled);
      for await (const { problems } of store.verify()) expect(problems).toEqual([]);
    },
  );
});

test('the instrument finds the start of the epoch in many pages of earlier labels, and stores later labels, by stream and by poll', async () => {
  const observed = await observe({
    labelers: 4,
    labelRate: 4,
    historyHours: 20,
    shapeLabeler: ({ index }) => ({
      software: index % 2 ? 'ozone' : 'skyware',
      ailment: index < 2 ? 'none' : 'no_stream',
    }),
  });
  const { store } = observed.station;
  await until(
    'all labelers are read',
    async () => (await observed.station.overview()).coverage.sources.established === 4,
  );
  for (const { faults } of observed.sim.labelers.list) {
    faults.emit(5);
    faults.setRate(0);
  }
  const { startedAt } = await store.epoch();
  const { labelers } = observed.sim;
  // Do not wait for replaced rows, because a row that was replaced before the first read no longer exists.
  const given = ({ labeler, n, served }: EmittedLabel): boolean => served || isReplaced(labelers.of(labeler), n);
  await until('all labels are served', () => [...labelers.truth.emitted(startedAt)].every(given), 60_000);
  const rows = async () => [...(await stored(observed.station))].sort();
  await until(
    'all rows are stored',
    async () =>
      JSON.stringify(await rows()) ===
      JSON.stringify([...labelers.truth.expected({ epochUs: startedAt, fromUs: startedAt }).byAction].sort()),
  );
  expect((await refusals(observed.station)).counted.pre_epoch).toBeGreaterThan(1_000);
  const { gaps, sources } = (await observed.station.overview()).coverage;
  expect({ gaps, established: sources.established }).toEqual({ gaps: [], established: 4 });
});

test('the reader stores a row that the cursor search has sampled, even if the labeler replaces it before the read reaches it', async () => {
  const shape = { software: 'ozone', oddShare: 0, ailment: 'no_stream' } as const;
  const observed = await observe({ labelers: 1, labelRate: 120, shapeLabeler: () => shape });
  // The delay gives the labeler time to replace rows between two pages.
  for (const { faults } of observed.sim.labelers.list) faults.delayed(700);
  await until('the labeler is read', async () => (await truth(observed)).accepted > 300);
  await settle(observed);
  expect(await stored(observed.station)).toEqual((await truth(observed)).byAction);
});

describe('a label that must not be stored', () => {
  const kinds: readonly (readonly [OddKind, string])[] = [
    ['foreign', 'foreign_src'],
    ['malformed', 'malformed'],
    ['oversized', 'oversized'],
    ['huge', 'oversized'],
    ['space_uri', 'space_uri'],
    ['undated', 'undated'],
    ['pre_epoch', 'pre_epoch'],
    ['late', 'late'],
    ['future', 'future'],
    ['duplicate', 'duplicate'],
  ];
  test('is counted under its reason, and does not stop its source from being read, by stream or by poll', async () => {
    const observed = await observe({
      labelers: 2,
      labelRate: 2,
      shapeLabeler: ({ index }) => ({ software: 'skyware', ailment: index === 0 ? 'none' : 'no_stream' }),
    });
    const { labelers } = observed.sim;
    await until('both are read', async () => (await observed.station.overview()).coverage.sources.established === 2);
    for (const { faults } of labelers.list) {
      for (const [kind] of kinds) {
        // Emit an ordinary label first, so that a duplicate repeats an ordinary label.
        faults.emit(1);
        faults.labels(kind, { count: 2 });
      }
      faults.emit(5);
      faults.setRate(0);
    }
    const { startedAt: epochUs } = await observed.station.store.epoch();
    await until('all labels are served', () => {
      const [emitted, served] = (['emitted', 'served'] as const).map((which) =>
        labelers.truth.expected({ epochUs, which }),
      );
      return (
        JSON.stringify(emitted?.refused) === JSON.stringify(served?.refused) && emitted?.accepted === served?.accepted
      );
    });
    await settle(observed);
    const expected = await truth(observed);
    expect(await stored(observed.station)).toEqual(expected.byAction);
    const { counted, duplicate } = await refusals(observed.station);
    expect(counted).toEqual(toRefuse(expected));
    expect(expected.refused.duplicate).toBeGreaterThan(0);
    expect(duplicate).toBeGreaterThanOrEqual(expected.refused.duplicate);
  });
});
