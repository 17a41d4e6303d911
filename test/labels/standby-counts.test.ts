import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startStandby, startStation } from '../../harness/labels/label-station.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { until } from '../../harness/process/until.ts';
import { createSim } from '../../sim/index.ts';
import type { InstrumentRole } from '../../src/labels/standby/standby-store.ts';
import { claimOrigin } from '../../src/store/origin.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const clock = () => micros(Date.now() * 1000);

test('a standby reports no label as stored until it is the active instrument', async () => {
  const folder = folderInTest();
  const sim = createSim({ seed: 5, labelers: 1, labelRate: 20, rate: 1, historyHours: 0 });
  onTestFinished(() => sim.stop());
  const { plc } = await sim.start();
  const seeds = sim.labelers.list.map(({ did }) => did);
  const writer = openSqliteWriter({ folder: join(folder, 'store'), at: clock() });
  await claimOrigin(writer, 'simulated');
  await writer.beat(clock());
  let stored = 0;
  const committed = (accepted: number): void => {
    stored += accepted;
  };
  let kept: InstrumentRole['kept']['kept'] | undefined;
  const standby = await startStandby(folder, clock, (role) => {
    kept = role.kept.kept;
    return startStation({ seeds, plc: plc ?? '' }, { folder, role, committed });
  });
  try {
    await until('the standby keeps labels', () => (kept?.rows.size ?? 0) > 20);
    expect(stored).toBe(0);
    await standby.ready();
    expect(stored).toBe(0);
    await writer.close();
    await standby.active;
    await until('the active instrument stores labels', () => stored > 0);
  } finally {
    await standby.station.stop();
  }
});
