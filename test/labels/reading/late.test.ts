import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { countRows } from '../../../harness/store/scan.ts';
import { admissionLimits } from '../../../src/labels/ingest/admission.ts';
import { hour, minute } from '../../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

test.each([
  ['a stream and pages', {}],
  ['only pages', { ailment: 'no_stream' }],
] as const)(
  'a labeler that is found late and whose first read is interrupted has a gap for the labels that are too old (%s)',
  async (_, shape) => {
    const { labeler, plc } = await stage.oneLabeler({ software: 'skyware', oddShare: 0, ...shape });
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
    await until('a first page is stored', async () => (await countRows(second.store)) > 0);
    const foundAt = wall();
    await second.stop();
    labeler.faults.heal();
    const third = await start([labeler.did], folder);
    await until('all labels are stored', async () => (await countRows(third.store)) === 600);
    const gaps = await third.store.gaps({ start: startedAt, end: wall(), source: labeler.did });
    const [late, ...others] = gaps.filter(({ source }) => source !== null);
    expect(late).toMatchObject({ start: startedAt, reason: 'not_observed' });
    expect(Math.abs((late?.end ?? 0) - (foundAt - admissionLimits.maxLateness))).toBeLessThan(minute);
    expect(others).toEqual([]);
  },
);
