import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { account, ask, create, fill, follow, page } from '../../harness/accounts/account.ts';
import { suspendedServer } from '../../harness/net/listen.ts';
import { freePort } from '../../harness/net/ports.ts';
import { pauseReplay, resumeReplay } from '../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres, startStandby } from '../../harness/postgres/server.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { openStoreReader, openStoreWriter } from '../../src/store/open.ts';
import type { StoreWriter } from '../../src/store/port.ts';
import { hour, micros } from '../../src/store/time.ts';

const clock = () => micros(Date.now() * 1000);

describe.skipIf(!hasPostgres())('an account process', () => {
  it('serves an export while the first servers in its URL are suspended', async () => {
    const port = await freePort();
    const server = await startPostgres({ port });
    onTestFinished(() => server.stop());
    const store = await openStoreWriter(server.url('suspended'), { at: micros(clock() - hour), markClock: clock });
    await fill(store, 3, { at: clock() - hour / 2 });
    await store.close();
    // If the servers were tried one after another, a read would exceed its time limit before the last server was tried.
    const suspended = await Promise.all(Array.from({ length: 6 }, suspendedServer));
    const ports = [...suspended, port];
    const hosts = ports.map((one) => `127.0.0.1:${one}`).join();
    const url = `postgres://almanac@${hosts}/postgres?sslmode=disable&schema=suspended`;
    const args = ['--port', '0', '--store', url, '--data', folderInTest(), '--no-handles'];
    const { url: base } = await startProgramInTest(['account', ...args]).listening();
    expect(await ask(`${base}/exports`, { did: account, days: '7' })).toMatchObject({ status: 200 });
  });
});

describe.skipIf(!hasPostgres())('account processes on two standbys', () => {
  let primary: PostgresServer;
  let standbys: readonly PostgresServer[] = [];
  let store: StoreWriter;
  let count = 0;
  let schema = '';
  beforeAll(async () => {
    primary = await startPostgres();
    standbys = [await startStandby(primary), await startStandby(primary)];
  });
  afterAll(async () => {
    for (const server of [...standbys, primary]) await server.stop();
  });
  beforeEach(async () => {
    schema = `accounts_${++count}`;
    store = await openStoreWriter(primary.url(schema), { at: micros(clock() - hour), markClock: clock });
    await fill(store, 12, { at: clock() - hour / 2 });
  });
  afterEach(async () => {
    for (const server of standbys) await resumeReplay(server);
    await store.close();
  });

  /** Starts an account process on each standby. Both share one secret. */
  const start = async () => {
    const folder = folderInTest();
    const secretFile = join(folder, 'secret');
    writeFileSync(secretFile, randomBytes(32).toString('hex'), { mode: 0o600 });
    const { end } = await store.frontier();
    const urls = standbys.map(async (server) => {
      await until('the rows on the standby', async () => {
        const reader = await openStoreReader(server.url(schema)).catch(() => null);
        const found = await reader?.frontier();
        await reader?.close();
        return (found?.end ?? 0) >= end;
      });
      const args = ['--port', '0', '--store', server.url(schema), '--data', folder, '--secret-file', secretFile];
      const { url } = await startProgramInTest(['account', ...args, '--page-rows', '5']).listening();
      return url;
    });
    const [first = '', second = ''] = await Promise.all(urls);
    return { first, second };
  };

  it('can serve the pages of one export alternately', async () => {
    const { first, second } = await start();
    const { cursor } = await create(first, { days: '7' });
    // On a loaded machine, the second standby may be more than two seconds behind the first one and return 503.
    await until('the export on the second standby', async () => {
      const { status, body } = await ask(`${second}/exports`, { cursor });
      if (status !== 200) expect([status, body.error.code]).toEqual([503, 'store_behind']);
      return status === 200;
    });
    const one = await page(second, cursor);
    const two = await page(first, one.next_cursor ?? '');
    const three = await page(second, two.next_cursor ?? '');
    expect([one, two, three].map(({ rows }) => rows.length)).toEqual([5, 5, 2]);
    const whole = await follow(first, { cursor });
    expect(whole.digest).toBe(three.terminal ? three.content_sha256 : null);
  });

  it('do not return a page of an export, or an interval with an explicit end, until they have received its rows', async () => {
    const { first, second } = await start();
    const [, lagging] = standbys;
    if (!lagging) throw new Error('there is no second standby');
    await pauseReplay(lagging);
    await fill(store, 1, { from: 12, at: clock() });
    const explicit = {
      did: account,
      start: new Date(Date.now() - 3_600_000).toISOString(),
      end: new Date().toISOString(),
    };
    const { manifest, cursor } = await create(first, explicit);
    expect(manifest.count_bound).toBe(13);

    const behind = { status: 503, body: { error: { code: 'store_behind' } } };
    const refused = await ask(`${second}/exports`, { cursor });
    expect(refused).toMatchObject(behind);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await ask(`${second}/exports`, explicit)).toMatchObject(behind);
    const shown = await fetch(`${second}/account?${new URLSearchParams(explicit).toString()}`);
    expect([shown.status, await shown.text()]).toEqual([503, expect.stringContaining('store_behind')]);

    // An interval given in days ends at the progress of the standby, and the manifest states that end.
    const clipped = await create(second, { days: '7' });
    expect(clipped.manifest.count_bound).toBe(12);
    expect(Date.parse(clipped.manifest.interval.end)).toBeLessThan(Date.parse(explicit.end));

    await resumeReplay(lagging);
    const whole = await follow(first, { cursor });
    await until('the rows on the standby', async () => (await ask(`${second}/exports`, { cursor })).status === 200);
    expect((await follow(second, { cursor })).rows).toEqual(whole.rows);
    expect(whole.count).toBe(13);
  });
});
