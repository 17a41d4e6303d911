import { describe, expect, test } from 'vitest';
import { isReplaced, labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import { createSim, type SimOptions } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { verdict } from '../../../sim/labelers/truth.ts';
import type { quirks } from '../../../src/labels/shares/telemetry.ts';
import { micros } from '../../../src/store/time.ts';

const stage = labelStage();

/** Starts one labeler and the instrument, and waits until a few labels have been read. */
async function observeOne(shape: ReturnType<NonNullable<SimOptions['shapeLabeler']>> = {}) {
  const { labeler, plc } = await stage.oneLabeler(shape);
  const started = await startStation({ seeds: [labeler.did], plc });
  stage.station = started;
  await until('the labeler is established', async () => (await started.overview()).coverage.sources.established === 1);
  labeler.faults.emit(3);
  await until('the first labels are stored', async () => (await countRows(started.store)) === 3);
  return { labeler, station: started, plc };
}

async function gaps({ store }: LabelStation) {
  const { startedAt: start } = await store.epoch();
  const found = await store.gaps({ start, end: micros(Date.now() * 1000 + 3_600_000_000) });
  return found.map(({ source, reason }) => ({ source, reason }));
}

/** Emits more labels, and waits until they have been stored. */
async function goesOn({ faults }: Labeler, observed: LabelStation, count = 4) {
  const before = await countRows(observed.store);
  faults.emit(count);
  await until('the later labels are stored', async () => (await countRows(observed.store)) >= before + count);
}

const software = ['ozone', 'skyware'] as const;

describe.each(software)('reading a labeler with %s', (kind) => {
  test.each<[string, (labeler: Labeler) => unknown]>([
    ['the end of a connection', ({ faults }) => faults.drop('end')],
    ['the reset of a connection', ({ faults }) => faults.drop('reset')],
    ['unreadable frames', ({ faults }) => faults.garbage()],
    ['frames with several labels', ({ faults }) => faults.several(3)],
    ['a move to a different endpoint', ({ faults }) => faults.move()],
    ['a change of the key', ({ faults }) => faults.rotateKey()],
    [
      'a ConsumerTooSlow error',
      ({ faults }) => {
        faults.nextCursor('too_slow');
        faults.drop('end');
        faults.emit(2);
      },
    ],
  ])('continues without a gap or a loss after %s', async (_, happens) => {
    const { labeler, station: observed } = await observeOne({ software: kind });
    await happens(labeler);
    await goesOn(labeler, observed);
    const truth = stage.sim?.labelers.truth.expected({
      epochUs: (await observed.store.epoch()).startedAt,
      which: 'emitted',
    });
    await until('all emitted labels are stored', async () => (await countRows(observed.store)) === truth?.accepted);
    expect(await gaps(observed)).toEqual([]);
  });
});

describe.each(software)('the gap after an interruption of a labeler with %s', (kind) => {
  test.each<[string, (typeof quirks)[number] | null, (labeler: Labeler) => unknown]>([
    [
      'a cursor in the future',
      'future_cursor',
      ({ faults }) => {
        faults.nextCursor('future');
        faults.drop('end');
      },
    ],
    [
      'a cursor that is too old',
      'outdated_cursor',
      ({ faults }) => {
        faults.nextCursor('outdated');
        faults.drop('end');
      },
    ],
    ['a database that was created again', null, ({ faults }) => faults.recreate()],
    ['a database that was restored from a copy', null, ({ faults }) => faults.loseTail(2)],
  ])('has the reason cursor_reset after %s', async (_, quirk, happens) => {
    const { labeler, station: observed } = await observeOne({ software: kind });
    await happens(labeler);
    await goesOn(labeler, observed);
    await until('the gap is recorded', async () => (await gaps(observed)).length > 0);
    expect(await gaps(observed)).toEqual([{ source: labeler.did, reason: 'cursor_reset' }]);
    if (quirk) expect(observed.quirks.get(quirk)).toBeGreaterThan(0);
  });

  test('has the reason cursor_reset if the database was restored from a copy and then grew, even if the first look-up fails', async () => {
    const { labeler, station: observed } = await observeOne({ software: kind, ailment: 'no_stream' });
    labeler.faults.answer({ kind: 'status', status: 503 }, { on: 'query', times: 2, limit: 1 });
    labeler.faults.loseTail(2);
    labeler.faults.emit(4);
    await until('the look-up has failed', () => labeler.faults.fired.get('query_answer') === 2);
    await until('all emitted labels are stored', async () => (await countRows(observed.store)) === 7);
    expect(await gaps(observed)).toEqual([{ source: labeler.did, reason: 'cursor_reset' }]);
  });

  test('is not recorded if only the first page requests fail while the stream is open', async () => {
    const made = createSim({
      rate: 1,
      historyHours: 0,
      labelers: 1,
      labelRate: 0,
      shapeLabeler: () => ({ software: kind }),
    });
    stage.sim = made;
    const { plc } = await made.start();
    const [labeler] = made.labelers.list;
    if (!labeler) throw new Error('the simulation has no labeler');
    labeler.faults.answer({ kind: 'status', status: 503 }, { on: 'query', times: 2 });
    const observed = await startStation({ seeds: [labeler.did], plc: plc ?? '' });
    stage.station = observed;
    await until('a labeler is established', async () => (await observed.overview()).coverage.sources.established === 1);
    await goesOn(labeler, observed);
    expect(labeler.faults.fired.get('query_answer')).toBe(2);
    expect(await gaps(observed)).toEqual([]);
  });

  test('has the reason source_unavailable for a stream that delivers only live labels and has no pages', async () => {
    const made = createSim({
      rate: 1,
      historyHours: 0,
      labelers: 1,
      labelRate: 20,
      shapeLabeler: () => ({ software: kind, ailment: 'no_query' }),
    });
    stage.sim = made;
    const { plc } = await made.start();
    const [labeler] = made.labelers.list;
    if (labeler) labeler.faults.ignoresCursors = true;
    stage.station = await startStation({ seeds: [labeler?.did ?? ''], plc: plc ?? '' });
    const observed = stage.station;
    await until('the live labels are stored', async () => (await countRows(observed.store)) > 5);
    await until('the gap is recorded', async () => (await gaps(observed)).length > 0);
    expect(await gaps(observed)).toEqual([{ source: labeler?.did, reason: 'source_unavailable' }]);
    await until('a labeler is established', async () => (await observed.overview()).coverage.sources.established === 1);
  });

  test.each([0, 2])(
    'is not recorded for a stream without pages that replays earlier labels from its cursor (%i h of history)',
    async (historyHours) => {
      const made = createSim({
        rate: 1,
        historyHours,
        labelers: 1,
        labelRate: 1,
        shapeLabeler: () => ({ software: kind, ailment: 'no_query' }),
      });
      stage.sim = made;
      const { plc } = await made.start();
      const [labeler] = made.labelers.list;
      if (!labeler) throw new Error('the simulation has no labeler');
      labeler.faults.emit(20);
      // Author the labels within the epoch, but before they are requested.
      made.labelers.directory.set(labeler.did, 'no_service');
      stage.station = await startStation({ seeds: [labeler.did], plc: plc ?? '' });
      const observed = stage.station;
      const { startedAt: epochUs } = await observed.store.epoch();
      labeler.faults.emit(60);
      made.labelers.directory.set(labeler.did, 'whole');
      await until('the live labels are stored', async () => (await countRows(observed.store)) > 40);
      await until('the gap is withdrawn', async () => (await gaps(observed)).length === 0);
      labeler.faults.setRate(0);
      const due = () =>
        [...made.labelers.truth.emitted(epochUs)].filter(
          (label) =>
            verdict(label, epochUs, label.emittedUs) === null && (label.served || !isReplaced(labeler, label.n)),
        );
      await until('the due labels are stored', async () => (await countRows(observed.store)) === due().length);
      expect(due().length).toBeGreaterThan(40);
    },
  );

  test('has the reason cursor_reset for labels that are missing between the replay and the live frames, although polls find them', async () => {
    const { labeler, station: observed } = await observeOne({ software: kind });
    labeler.faults.missAtCutover(3);
    labeler.faults.drop('end');
    labeler.faults.emit(2);
    await goesOn(labeler, observed);
    await until('all labels are stored', async () => (await countRows(observed.store)) === labeler.edge);
    await until('the gap is recorded', async () => (await gaps(observed)).length > 0);
    expect(await gaps(observed)).toEqual([{ source: labeler.did, reason: 'cursor_reset' }]);
  });
});

describe('the polls of a source', () => {
  test.each(software)('detect that a database was recreated (%s)', async (kind) => {
    const { labeler, station: observed } = await observeOne({ software: kind, ailment: 'no_stream' });
    labeler.faults.recreate();
    await until('the gap is recorded', async () => (await gaps(observed)).length > 0);
    await goesOn(labeler, observed);
    expect(await gaps(observed)).toEqual([{ source: labeler.did, reason: 'cursor_reset' }]);
  });
});
