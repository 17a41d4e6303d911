import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';
import { admissionLimits } from '../../../src/labels/ingest/admission.ts';
import { day, hour, micros, minute } from '../../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

async function rows({ store }: LabelStation): Promise<number> {
  const { startedAt: start } = await store.epoch();
  const counts = await store.countsByLabeler({ start, end: micros(wall() + day) });
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

test.each([
  ['a stream and pages', {}],
  ['only pages', { ailment: 'no_stream' }],
] as const)(
  'a labeler that is found late and whose first read is interrupted has a gap for the labels that are too old (%s)',
  async (_, shape) => {
    const made = createSim({
      ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
      clock: () => Date.now() + stage.passed / 1000,
      shapeLabeler: () => ({ software: 'skyware', oddShare: 0, ...shape }),
    });
    stage.sim = made;
    const { plc } = await made.start();
    const [labeler] = made.labelers.list;
    if (!labeler || plc === null) throw new Error('the simulation has no labeler');
    const start = async (seeds: readonly string[], folder?: string): Promise<LabelStation> => {
      const started = await startStation({ seeds, plc }, { wall, monotonic, ...(folder ? { folder } : {}) });
      stage.station = started;
      return started;
    };
    const { folder, store } = await start([]);
    const { startedAt } = await store.epoch();
    await stage.station?.stop();

    stage.passed += 60 * hour;
    labeler.faults.emit(600);
    // Delay pages, so that the test can stop the reader between two pages.
    labeler.faults.delayed(300);
    const second = await start([labeler.did], folder);
    await until('a first page is stored', async () => (await rows(second)) > 0);
    const foundAt = wall();
    await second.stop();
    labeler.faults.heal();
    const third = await start([labeler.did], folder);
    await until('all labels are stored', async () => (await rows(third)) === 600);
    const gaps = await third.store.gaps({ start: startedAt, end: wall(), source: labeler.did });
    const [late, ...others] = gaps.filter(({ source }) => source !== null);
    expect(late).toMatchObject({ start: startedAt, reason: 'not_observed' });
    expect(Math.abs((late?.end ?? 0) - (foundAt - admissionLimits.maxLateness))).toBeLessThan(minute);
    expect(others).toEqual([]);
  },
);
