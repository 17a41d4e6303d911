import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStandby, startStation } from '../../harness/labels/label-station.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { claimOrigin } from '../../src/store/origin.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';

const clock = () => micros(Date.now() * 1000);
let sim: Sim;
let folder: string;

beforeAll(() => {
  sim = createSim({ seed: 4, labelers: 1, rate: 1, historyHours: 0 });
  folder = mkdtempSync(join(tmpdir(), 'almanac-origin-'));
});
afterAll(async () => {
  await sim.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a standby for live observations does not take over a store that its writer later claims for a simulation', async () => {
  const { plc } = await sim.start();
  const writer = openSqliteWriter({ folder: join(folder, 'store'), at: clock() });
  const standby = await startStandby(folder, clock, (role) =>
    startStation({ seeds: [], plc: plc ?? '', origin: 'live' }, { folder, role }),
  );
  try {
    const failed = standby.station.overview();
    await claimOrigin(writer, 'simulated');
    await writer.beat(clock());
    await standby.ready();
    await writer.close();
    await expect(failed).rejects.toMatchObject({ code: 'wrong_origin' });
  } finally {
    await standby.station.stop();
  }
});
