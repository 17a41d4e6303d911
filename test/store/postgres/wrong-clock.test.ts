import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { spawnLabels } from '../../../harness/labels/labels-process.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { createSim } from '../../../sim/index.ts';

describe.skipIf(!hasPostgres())('an instrument whose clock is ahead of those of all upstreams', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('stores no mark before the clocks agree, because it could accept no label until the time of the mark', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'almanac-clock-'));
    let aheadMs = 3 * 3_600_000;
    const sim = createSim({
      ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
      clock: () => Date.now() - aheadMs,
    });
    const { seeds, plc, relays } = await sim.start();
    const network = ['--plc', plc ?? '', '--jetstream', '', '--seeds', seeds ?? '', '--allow-loopback'];
    network.push(...relays.flatMap((relay) => ['--relay', relay]));
    const places = ['--store', server.url('ahead'), '--state', `${folder}/state`, '--artifacts', `${folder}/artifacts`];
    const labels = spawnLabels([...places, ...network]);
    onTestFinished(async () => {
      labels.process.kill('SIGKILL');
      await labels.ended;
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const contradicted = (line: Record<string, unknown>): boolean =>
      String(line.msg).startsWith('the local clock differs');
    await until('the contradiction', () => labels.log().some(contradicted));
    const look = async () => (await statement(server, 'SELECT mark, renewed_at::text AS renewed FROM ahead.store'))[0];
    // The lease is renewed twice as often as a mark is stored.
    const renewals = new Set<unknown>();
    await until('eight renewals of the lease', async () => renewals.add((await look())?.renewed).size > 8);
    expect(await look()).toMatchObject({ mark: null });

    aheadMs = 0;
    await labels.observing;
    await until('a mark', async () => (await look())?.mark !== null);
    const [labeler] = sim.labelers.list;
    await until('a label', async () => {
      labeler?.faults.emit(1);
      return (await statement(server, 'SELECT 1 FROM ahead.observation')).length > 0;
    });
  });
});
