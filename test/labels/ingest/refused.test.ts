import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import type { OddKind } from '../../../sim/labelers/odd-labels.ts';
import type { LabelerProfile } from '../../../sim/labelers/profile.ts';
import { hour, micros } from '../../../src/store/time.ts';

const stage = labelStage();

const span = async ({ store }: LabelStation) => ({
  start: (await store.epoch()).startedAt,
  end: micros(Date.now() * 1000 + hour),
});

async function rows(observed: LabelStation): Promise<number> {
  const counts = await observed.store.countsByLabeler(await span(observed));
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

async function refused(observed: LabelStation) {
  const counts = await observed.store.refusals(await span(observed));
  return Object.fromEntries(counts.flatMap(({ reason, count }) => (reason === 'duplicate' ? [] : [[reason, count]])));
}

const kinds: readonly OddKind[] = ['undated', 'pre_epoch', 'future', 'foreign'];
const rounds = 4;
const once = { undated: rounds, pre_epoch: rounds, future: rounds, foreign_src: rounds };

test.each<[string, Partial<LabelerProfile>]>([
  ['a stream and pages', {}],
  ['only pages', { ailment: 'no_stream' }],
  ['pages without an order, which overlap', { ailment: 'no_stream', unordered: true }],
  ['pages without a cursor', { ailment: 'no_cursor' }],
  ['only a stream', { ailment: 'no_query' }],
])('a refused row is counted once, even if it is read repeatedly (labeler with %s)', async (_, shape) => {
  const { labeler, plc } = await stage.oneLabeler({ software: 'ozone', oddShare: 0, ...shape });
  const { faults } = labeler;
  let emitted = 0;
  const start = async (folder?: string): Promise<LabelStation> => {
    const started = await startStation({ seeds: [labeler.did], plc }, folder === undefined ? {} : { folder });
    stage.station = started;
    await until('the labeler is read', async () => {
      const { sources } = (await started.overview()).coverage;
      return sources.established === 1 || labeler.streams.length > 0;
    });
    return started;
  };
  /** Emits new labels, which cause rows to be read again, and waits until those rows have been read. */
  const goOn = async (observed: LabelStation): Promise<void> => {
    for (let i = 0; i < 2; i += 1) {
      faults.emit(2);
      emitted += 2;
      await until('all emitted labels are stored', async () => (await rows(observed)) === emitted);
    }
  };
  const first = await start();
  await goOn(first);
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) faults.labels(kind, { count: 1 });
    await goOn(first);
  }
  expect(await refused(first)).toEqual(once);
  await first.stop();
  const second = await start(first.folder);
  await goOn(second);
  expect(await refused(second)).toEqual(once);
});

test('refused rows beyond the memory limit are counted, and do not stop the labeler from being read', async () => {
  const { labeler, plc } = await stage.oneLabeler({ software: 'skyware', oddShare: 0, ailment: 'no_stream' });
  const observed = await startStation({ seeds: [labeler.did], plc });
  stage.station = observed;
  const { store } = observed;
  labeler.faults.labels('pre_epoch', { count: 2 });
  labeler.faults.labels('foreign', { count: 4_000 });
  labeler.faults.emit(3);
  await until('the labels after the refused rows are stored', async () => (await rows(observed)) === 3);
  expect(await refused(observed)).toEqual({ pre_epoch: 2, foreign_src: 4_000 });
  expect(await store.refusedRows()).toHaveLength(16);
  await observed.stop();
  const again = await startStation({ seeds: [labeler.did], plc }, { folder: observed.folder });
  stage.station = again;
  labeler.faults.emit(1);
  await until('the later label is stored', async () => (await rows(again)) === 4);
  expect(await refused(again)).toEqual({ pre_epoch: 2, foreign_src: 4_000 });
});
