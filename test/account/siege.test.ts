import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { page, startAccount } from '../../harness/accounts/account.ts';
import { besiege, type HonestAnswer, hostileKinds, unitEnvironment } from '../../harness/accounts/account-siege.ts';
import { siegeTargets, writeSiegeStore } from '../../harness/accounts/account-siege-store.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { memoryMib } from '../../harness/process/process-tree.ts';
import { accountErrorTable } from '../../src/contract/errors.ts';

/** Tests the account surface with hostile clients of every kind alongside honest clients. */

const hostile = 196;
const honest = 20;
/** Maximum total memory of the service's processes, in MB. The systemd unit allows twice as much. */
const maxMb = 500;
const siegeMs = 20_000;

async function besieged(args: readonly string[]) {
  const folder = folderInTest();
  await writeSiegeStore(folder, 20_000);
  const program = startAccount(folder, ['--no-handles', '--max-export-rows', '5000', ...args], unitEnvironment);
  const { port, url } = await program.listening();
  return { program, port, url, pid: program.child.pid ?? 0 };
}

describe('the account surface under attack', () => {
  it.each([
    ['from many addresses', 'direct', '0'],
    ['behind a proxy that forwards their addresses', 'forwarded', '1'],
  ] as const)(
    'sends the documented responses to honest readers, with bounded memory (%s)',
    async (_who, kind, proxies) => {
      expect(hostile % Object.keys(hostileKinds).length).toBe(0);
      const { port, pid, program } = await besieged(['--trust-proxy', proxies]);
      const { answers, peakMb } = await besiege({
        way: { kind, port },
        targets: siegeTargets,
        hostile,
        honest,
        pid,
        stop: AbortSignal.timeout(siegeMs),
      });
      const documented = new Set([200, ...Object.values(accountErrorTable).map(({ status }) => status)]);
      const wrong = (one: HonestAnswer): boolean =>
        !documented.has(one.status) || (one.status !== 200 && !(one.status === 503 && one.retryAfter));
      expect(answers.filter(wrong)).toEqual([]);
      expect(answers.length).toBeGreaterThanOrEqual(honest);
      // Do not check how many responses ask the client to wait, because the number depends on the machine.
      // scripts/siege-account.ts measures it.
      expect(answers.filter(({ status }) => status === 200)).not.toEqual([]);
      expect(peakMb).toBeLessThan(maxMb);
      // The service must also end normally after the siege.
      program.child.kill('SIGTERM');
      expect(await program.ended()).toBe(0);
    },
  );
});

it('the account surface exits within 10 s of SIGTERM under attack', async () => {
  const { port, pid, program } = await besieged(['--trust-proxy', '1']);
  const stop = new AbortController();
  const siege = besiege({
    way: { kind: 'forwarded', port },
    targets: siegeTargets,
    hostile,
    honest,
    pid,
    stop: stop.signal,
  });
  await delay(3_000);
  program.child.kill('SIGTERM');
  const late = delay(10_000, 'late', { signal: stop.signal }).catch(() => 'ended');
  expect(await Promise.race([program.ended(), late])).toBe(0);
  stop.abort();
  await siege;
});

describe('labels of maximum size', () => {
  it('do not exhaust the memory if a client repeatedly requests their page and never reads a response', async () => {
    const { port, url, pid } = await besieged([]);
    const { cursor } = (await (await fetch(`${url}/exports?did=${siegeTargets.large}`)).json()) as { cursor: string };
    const before = memoryMib(pid, 'VmRSS');
    const idle: Socket[] = [];
    let refused = 0;
    while (idle.length < 40 && refused < 20) {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
      socket.write(`GET /exports?cursor=${cursor} HTTP/1.1\r\nHost: a\r\n\r\n`);
      // Wait for the response, read only its beginning, and leave the rest unread.
      await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
      if (String(socket.read(12)) === 'HTTP/1.1 200') idle.push(socket);
      else {
        refused += 1;
        socket.destroy();
      }
    }
    const grown = memoryMib(pid, 'VmRSS') - before;
    for (const socket of idle) socket.destroy();
    expect(idle.length).toBeGreaterThan(4);
    expect(grown).toBeLessThan(200);
  });

  it('make the pages of an export shorter, because a page is also limited in bytes, but no row is lost', async () => {
    const { url } = await besieged([]);
    const created = (await (await fetch(`${url}/exports?did=${siegeTargets.large}`)).json()) as { cursor: string };
    const sizes: number[] = [];
    let rows = 0;
    for (let cursor: string | null = created.cursor; cursor !== null; ) {
      const one = await page(url, cursor);
      sizes.push(JSON.stringify(one.rows).length);
      rows += one.rows.length;
      cursor = one.next_cursor;
    }
    expect(rows).toBe(600);
    expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
  });

  it("do not make an account's page larger than 1 MiB", async () => {
    const { url } = await besieged([]);
    const html = await (await fetch(`${url}/account?did=${siegeTargets.large}`)).text();
    expect(html.length).toBeLessThan(1024 * 1024);
    expect(html).toContain('(shortened)');
  });
});
