import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../../harness/accounts/account.ts';
import { StoreComparison } from '../../harness/kills/compare-store.ts';
import { type LabelsProcess, spawnLabels } from '../../harness/labels/labels-process.ts';
import { freePort } from '../../harness/net/ports.ts';
import { promote, statement } from '../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres, startStandby } from '../../harness/postgres/server.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim, type SimAddresses } from '../../sim/index.ts';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import type { ExportCreated } from '../../src/contract/account.ts';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { openStoreReader } from '../../src/store/open.ts';
import type { Frontier } from '../../src/store/port.ts';
import { micros } from '../../src/store/time.ts';

/** Tests an instrument whose database has lost commits that it had confirmed, with real servers. */

describe.skipIf(!hasPostgres())('an instrument whose database has lost confirmed commits', () => {
  let sim: Sim;
  let network: SimAddresses;
  let folder = '';
  const ports: [primary: number, standby: number] = [0, 0];
  let primary: PostgresServer;
  const started: LabelsProcess[] = [];

  beforeEach(async () => {
    sim = createSim({
      ...{ seed: 5, labelers: 2, labelRate: 20, rate: 1, historyHours: 0 },
      shapeLabeler: () => ({ software: 'skyware', rate: 10, oddShare: 0, ailment: 'none' }),
    });
    network = await sim.start();
    folder = mkdtempSync(join(tmpdir(), 'almanac-lost-commits-'));
    ports[0] = await freePort();
    ports[1] = await freePort();
    primary = await startPostgres({ port: ports[0], settings: { wal_level: 'replica' } });
  });
  afterEach(async () => {
    for (const { process, ended } of started.splice(0)) {
      process.kill('SIGKILL');
      await ended;
    }
    await primary.stop();
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (hosts: readonly number[]): string =>
    `postgres://almanac@${hosts.map((port) => `127.0.0.1:${port}`).join()}/postgres?sslmode=disable&target_session_attrs=primary`;
  const url = (): string => urlOf(ports);
  const start = (): LabelsProcess => {
    const one = spawnLabels([
      ...['--store', url(), '--state', join(folder, 'state'), '--artifacts', join(folder, 'artifacts')],
      ...['--plc', network.plc ?? '', '--jetstream', network.jetstream, '--seeds', network.seeds ?? ''],
      ...['--relay', network.plc ?? '', '--allow-loopback', '--publish-seconds', '1', '--min-free-megabytes', '0'],
    ]);
    started.push(one);
    return one;
  };
  const frontier = async (store: string): Promise<Frontier> => {
    const reader = await openStoreReader(store);
    try {
      return await reader.frontier();
    } finally {
      await reader.close();
    }
  };
  const recordedEnd = (): number => {
    const record = readFileSync(join(folder, 'artifacts', 'labels-store.json'), 'utf8');
    return parseTimestamp((JSON.parse(record) as { end: string }).end) ?? 0;
  };
  /** Resolves when the record contains rows that are later than `at`. */
  const recordedAfter = (at: number): Promise<void> => until('later rows are in the record', () => recordedEnd() > at);
  const overview = (): RecentOverview =>
    JSON.parse(readFileSync(join(folder, 'artifacts', 'labels-overview.json'), 'utf8')) as RecentOverview;

  /** Starts an account process with one row per page. Returns functions that create an export and request a page. */
  const exporter = async () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
    const args = ['--port', '0', '--store', url(), '--data', folder, '--secret-file', secret, '--page-rows', '1'];
    const { url: base } = await startProgramInTest(['account', ...args, '--no-handles']).listening();
    const { byAccount } = sim.labelers.truth.expected({ epochUs: 0, which: 'emitted' });
    const [did = ''] = [...byAccount].reduce((most, one) => (one[1] > most[1] ? one : most));
    return {
      create: () => ask<ExportCreated>(`${base}/exports`, { did, days: '7' }),
      page: (cursor: string) => ask(`${base}/exports`, { cursor }),
    };
  };

  /**
   * Requires that the loss is recorded as a gap from the last row that the database had, and that every label is
   * stored.
   */
  const expectGapSince = async (kept: Frontier, lostThrough: number, generation: string): Promise<void> => {
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    const comparison = new StoreComparison(sim, url());
    expect(await comparison.untilWhole()).toEqual([]);
    expect(await comparison.compare()).toMatchObject({ problems: [], whole: true });
    expect((await frontier(url())).generationId).toBe(generation);
    const covers = ({ start, end }: { start: string; end: string }): boolean =>
      (parseTimestamp(start) ?? Number.POSITIVE_INFINITY) <= kept.end && (parseTimestamp(end) ?? 0) >= lostThrough;
    await until('the overview has the gap', () => overview().coverage.gaps.some(covers));
    const reader = await openStoreReader(url());
    const gaps = await reader.gaps({ start: kept.floor, end: micros(Date.now() * 1000) });
    await reader.close();
    expect(gaps.filter(({ source }) => source === null)).toEqual([
      expect.objectContaining({ reason: 'ingest_paused' }),
    ]);
    expect(gaps[0]?.start).toBeLessThanOrEqual(kept.end);
    expect(gaps[0]?.end).toBeGreaterThanOrEqual(lostThrough);
  };

  it('exits after a failover to a standby that had not received the commits, and publishes a gap at its next start', async () => {
    const first = start();
    await first.observing;
    await until(
      'labels are stored',
      async () => (await new StoreComparison(sim, url()).compare({ verified: false })).rows > 20,
    );
    const standby = await startStandby(primary, { port: ports[1], settings: { wal_receiver_status_interval: '1s' } });
    onTestFinished(() => standby.stop());
    await statement(standby, "ALTER SYSTEM SET primary_conninfo = ''");
    await statement(standby, 'SELECT pg_reload_conf()');
    await until('the replication has ended', async () => {
      if ((await statement(standby, 'SELECT 1 FROM pg_stat_wal_receiver')).length > 0) return false;
      const [row] = await statement(standby, 'SELECT pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AS replayed');
      return row?.replayed === true;
    });
    const kept = await frontier(urlOf([ports[1]]).replace('=primary', '=standby'));
    const generation = overview().acquisition.generation_id;
    await recordedAfter(kept.end + 1_000_000);
    const { create, page } = await exporter();
    const made = await create();
    expect(made.status).toBe(200);
    const lostThrough = recordedEnd();

    await primary.stop();
    await promote(standby);
    const { code, stderr } = await first.ended;
    expect([code, stderr.join('\n')]).toEqual([1, expect.stringContaining('lost commits')]);
    const second = start();
    await second.observing;
    await expectGapSince(kept, lostThrough, generation);
    const told = second.log().find(({ msg }) => String(msg).includes('has lost commits'));
    expect(told).toMatchObject({ recordedThrough: expect.any(String), lostFrom: expect.any(String) });
    await until('the page of the export is refused', async () => (await page(made.body.cursor)).status !== 503);
    expect(await page(made.body.cursor)).toMatchObject({ status: 410, body: { error: { code: 'snapshot_expired' } } });
  });

  it('publishes a gap that begins at the last row of the copy if an older copy was restored', async () => {
    const first = start();
    await first.observing;
    await until(
      'labels are stored',
      async () => (await new StoreComparison(sim, url()).compare({ verified: false })).rows > 20,
    );
    const copy = await startStandby(primary, { port: ports[1] });
    onTestFinished(() => copy.stop());
    await promote(copy);
    const kept = await frontier(urlOf([ports[1]]));
    const generation = overview().acquisition.generation_id;
    await recordedAfter(kept.end + 1_000_000);
    const lostThrough = recordedEnd();
    first.process.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
    await primary.stop();

    const second = start();
    await second.observing;
    await expectGapSince(kept, lostThrough, generation);
    expect(second.log().some(({ msg }) => String(msg).includes('has lost commits'))).toBe(true);
  });
});
