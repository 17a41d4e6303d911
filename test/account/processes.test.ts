import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { account, ask, create, fill, follow, startAccount, writerInTest } from '../../harness/accounts/account.ts';
import { metricsOf, observed } from '../../harness/accounts/observed-accounts.ts';
import { accountOpenApi } from '../../harness/artifacts/openapi.ts';
import { opened } from '../../harness/net/raw-http.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { childrenOf } from '../../harness/process/process-tree.ts';
import { until } from '../../harness/process/until.ts';
import { movedNote } from '../../src/store/errors.ts';
import { setStoreAside } from '../../src/store/sqlite/repair/repair.ts';

/** Tests the store-reading processes of the account surface. */

describe('the account surface at startup', () => {
  it('opens days of the store in every store-reading process before it accepts a client', async () => {
    const { program } = await observed(12, ['--readers', '2']);
    const readers = childrenOf(program.child.pid ?? 0);
    expect(readers).toHaveLength(2);
    for (const pid of readers) {
      const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
      expect(open.filter((file) => /\/days\/[\d-]+\.open\.sqlite$/.test(file))).not.toEqual([]);
    }
  });
});

it('warns at startup if a copy has replaced its store', async () => {
  const folder = folderInTest();
  await writerInTest(folder, (Date.now() - 60_000) * 1000).close();
  const since = '2026-11-28T12:00:00.000Z';
  const db = new Database(join(folder, 'labels', 'state.sqlite'));
  db.prepare('INSERT INTO note(name, content) VALUES (?, ?)').run(movedNote, since);
  db.close();
  const program = startAccount(folder);
  await program.listening();
  const msg = 'a copy has replaced this store: it gets no new rows; set --store to the copy';
  const warnings = () => program.log().filter((line) => line.msg === msg);
  await until('the warning', () => warnings().length > 0);
  expect(warnings()).toMatchObject([{ level: 'warn', since }]);
});

function targetOf(link: string): string[] {
  try {
    return [readlinkSync(link)];
  } catch {
    return [];
  }
}

describe('the running account surface', () => {
  it('responds with 503 and Retry-After if the queue is full or a deadline has passed, and frees the slot once the process has exited', async () => {
    const tight = ['--readers', '1', '--queue', '1', '--queue-ms', '30000'];
    const { url, program } = await observed(12, [...tight, '--metrics-port', '0']);
    await create(url);
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    // A stopped process simulates a read that never ends, for example because of a failing disk.
    process.kill(reader, 'SIGSTOP');
    // Whatever the order of arrival, one request uses the reader, one waits for it, and one is refused.
    const three = await Promise.all([1, 2, 3].map(() => ask(`${url}/exports`, { did: account })));
    const refused = three.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    for (const { status, headers, body } of refused) {
      expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'store_busy' });
      expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(accountOpenApi.faults('get', '/exports', 503, body)).toEqual([]);
    }
    const metrics = await metricsOf(program);
    expect(metrics).toContain('almanac_account_busy_total{reason="full"} 1');
    expect(metrics).toContain('almanac_account_busy_total{reason="deadline"} 1');
    // A new process served the waiting request, because the old one had exited.
    const now = childrenOf(program.child.pid ?? 0);
    expect(now).not.toContain(reader);
    expect(now).toHaveLength(1);
  });

  it('replaces a store-reading process that has exited', async () => {
    const { url, program } = await observed(12, ['--readers', '1']);
    const created = await create(url);
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    process.kill(reader, 'SIGKILL');
    await until('another process', async () => (await ask(`${url}/exports`, { did: account })).status === 200);
    expect((await follow(url, created)).count).toBe(12);
  });

  it('reports a missing store as busy, and reads the store once it has been created', async () => {
    const folder = folderInTest();
    mkdirSync(folder, { recursive: true });
    const { url } = await startAccount(folder).listening();
    const { status, headers, body } = await ask(`${url}/exports`, { did: account });
    expect({ status, code: body.error.code, retry: headers.get('retry-after') }).toEqual({
      status: 503,
      code: 'store_busy',
      retry: '5',
    });
    await fill(writerInTest(folder, (Date.now() - 60_000) * 1000), 3, { at: (Date.now() - 30_000) * 1000 });
    expect((await follow(url, await create(url))).count).toBe(3);
  });

  it('serves the new epoch of a store that was moved aside, and ends the exports of the former epoch', async () => {
    const folder = folderInTest();
    const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
    await fill(store, 3, { at: (Date.now() - 30_000) * 1000 });
    await store.close();
    const { url } = await startAccount(folder, ['--readers', '1']).listening();
    const former = await create(url);
    setStoreAside(join(folder, 'labels'), new Date());
    await fill(writerInTest(folder, (Date.now() - 60_000) * 1000), 2, { from: 3, at: (Date.now() - 30_000) * 1000 });
    await until('the new epoch', async () => (await ask(`${url}/exports`, { did: account })).status === 200);
    expect((await follow(url, await create(url))).count).toBe(2);
    expect(await ask(`${url}/exports`, { cursor: former.cursor })).toMatchObject({
      status: 410,
      body: { error: { code: 'snapshot_expired' } },
    });
  });

  it('tries again to open a store after a failed attempt', async () => {
    const folder = folderInTest();
    const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
    await fill(store, 3, { at: (Date.now() - 30_000) * 1000 });
    await store.close();
    const setVersion = (change: (version: number) => number): void => {
      const db = new Database(join(folder, 'labels', 'state.sqlite'));
      db.pragma(`user_version = ${change(Number(db.pragma('user_version', { simple: true })))}`);
      db.close();
    };
    setVersion((version) => version + 1_000);
    const { url } = await startAccount(folder, ['--readers', '1']).listening();
    expect(await ask(`${url}/exports`, { did: account })).toMatchObject({ status: 500 });
    setVersion((version) => version - 1_000);
    expect((await follow(url, await create(url))).count).toBe(3);
  });

  it('frees the slot of a client that disconnects while it waits for a download, without an error', async () => {
    const { url, program } = await observed(12, ['--readers', '1', '--log-level', 'debug']);
    const html = await (await fetch(`${url}/account?did=${account}`)).text();
    const href = /href="(\/download\?cursor=[\w-]+)"/.exec(html)?.[1] ?? '';
    const [reader] = childrenOf(program.child.pid ?? 0);
    if (reader === undefined) throw new Error('no reading process');
    process.kill(reader, 'SIGSTOP');
    const two = [new AbortController(), new AbortController()] as const;
    const asked = two.map(({ signal }) => fetch(url + href, { signal }));
    // One of the two downloads uses the reader, and the other one is refused.
    const first = await Promise.race(asked.map(async (answer, i) => ({ i, status: (await answer).status })));
    expect(first.status).toBe(503);
    two[1 - first.i]?.abort();
    await expect(asked[1 - first.i]).rejects.toThrow('aborted');
    process.kill(reader, 'SIGCONT');
    // Repeat the request, because the read during which the reader was stopped may still be in progress.
    let whole = await fetch(url + href);
    await until('the place of the client to be free', async () => {
      if (whole.status !== 200) whole = await fetch(url + href);
      return whole.status === 200;
    });
    expect(await whole.json()).toMatchObject({ count: 12 });
    expect(program.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('exits on SIGTERM, together with all its processes', async () => {
    const { url, program } = await observed(12);
    await create(url);
    const readers = childrenOf(program.child.pid ?? 0);
    expect(readers.length).toBeGreaterThan(0);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(readers.filter(isAlive)).toEqual([]);
  });

  it('exits on SIGTERM, together with all its processes, even if a client does not read its download', async () => {
    const { url, port, program } = await observed(20_000);
    const html = await (await fetch(`${url}/account?did=${account}`)).text();
    const href = /href="(\/download\?cursor=[\w-]+)"/.exec(html)?.[1] ?? '';
    const socket = await opened(port);
    onTestFinished(() => void socket.destroy());
    socket.write(`GET ${href} HTTP/1.1\r\nHost: a\r\n\r\n`);
    // Wait for the start of the response, which the client then leaves unread.
    await once(socket, 'readable');
    const readers = childrenOf(program.child.pid ?? 0);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(readers.filter(isAlive)).toEqual([]);
  });

  it('leaves no store-reading process behind when it is killed', async () => {
    const { url, program } = await observed(12);
    await create(url);
    const readers = childrenOf(program.child.pid ?? 0);
    program.child.kill('SIGKILL');
    await until('the reading processes to end', () => readers.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
