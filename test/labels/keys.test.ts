import { expect, test } from 'vitest';
import { labelStage } from '../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { scanAccount } from '../../harness/store/scan.ts';
import type { Sim } from '../../sim/index.ts';
import { accountOf } from '../../sim/labelers/truth.ts';
import type { Observation } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

/** Returns the subject of a label. All labels of this network are well-formed. */
function subjectOf(label: unknown): string {
  return typeof label === 'object' && label !== null && 'uri' in label ? String(label.uri) : '';
}

/** Returns the verdicts on all stored labels of the network, in the order of acceptance. */
async function verdicts({ store }: LabelStation, { labelers }: Sim): Promise<string[]> {
  const { startedAt: start } = await store.epoch();
  const interval = { start, end: micros(wall() + day) };
  const accounts = new Set([...labelers.truth.emitted(0)].map(({ label }) => accountOf(subjectOf(label))));
  const found: Observation[] = [];
  for (const account of accounts) {
    for await (const rows of scanAccount(store, { account, order: 'oldest', ...interval }, 1_000)) found.push(...rows);
  }
  return found.sort((a, b) => a.observedAt - b.observedAt).map(({ signature }) => signature);
}

test('a label signed before an unobserved key rotation is verified with the earlier key', async () => {
  const { sim, labeler, plc } = await stage.oneLabeler({ software: 'skyware', didWeb: false });
  // The epoch begins before the labeler is discovered, so the labeler's first key is never observed.
  const first = await startStation({ seeds: [], plc }, { wall, monotonic });
  await first.stop();
  labeler.faults.emit(3);
  labeler.rotateKey();
  const station = await startStation({ seeds: [labeler.did], plc }, { folder: first.folder, wall, monotonic });
  stage.station = station;
  labeler.faults.emit(2);
  await until('all five labels are verified', async () => (await verdicts(station, sim)).length === 5);
  const earlier = Array.from({ length: 3 }, () => 'verified_earlier_key');
  expect((await verdicts(station, sim)).sort()).toEqual(['verified', 'verified', ...earlier]);
});
