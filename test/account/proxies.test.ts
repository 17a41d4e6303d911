import { expect, it } from 'vitest';
import { account, ask, fill, startAccount, writerInTest } from '../../harness/accounts/account.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import type { Program } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { checkProxyTrust } from '../../src/main/doctor/ports.ts';

/** Tests requests that reach the account surface through a proxy. */

async function surface(args: readonly string[]) {
  const folder = folderInTest();
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000);
  await fill(store, 12, { at: (Date.now() - 30_000) * 1000 });
  const program = startAccount(folder, ['--metrics-port', '0', ...args]);
  const { url } = await program.listening();
  return { program, url, metricsPort: await metricsPortOf(program) };
}

async function metricsPortOf(program: Program): Promise<number> {
  const announcedPort = (): unknown => program.log().find(({ msg }) => msg === 'the metrics port is open')?.port;
  await until('the port of the metrics', () => announcedPort() !== undefined);
  return Number(announcedPort());
}

const warnings = ({ log }: Program) => log().filter(({ msg }) => String(msg).includes('--trust-proxy'));

it.each(['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP'])(
  'the account surface warns once that all clients count as one if requests have the header of an untrusted proxy (%s)',
  async (name) => {
    const { program, url, metricsPort } = await surface([]);
    expect(await checkProxyTrust(metricsPort)).toMatchObject({ level: 'ok' });
    for (let n = 0; n < 3; n++) await fetch(`${url}/exports?did=${account}`, { headers: { [name]: '198.51.100.7' } });
    await until('the warning', () => warnings(program).length > 0);
    expect(warnings(program)).toHaveLength(1);
    expect(JSON.stringify(warnings(program))).not.toContain('198.51');
    expect(await checkProxyTrust(metricsPort)).toMatchObject({
      level: 'warn',
      found: '3 requests reached the account surface through an untrusted proxy: all clients count as one',
    });
  },
);

it('the account surface logs no warning if the proxy is trusted or there is no proxy', async () => {
  const trusting = await surface(['--trust-proxy', '1']);
  await fetch(`${trusting.url}/health`, { headers: { 'X-Forwarded-For': '198.51.100.7' } });
  const direct = await surface([]);
  await fetch(`${direct.url}/health`);
  for (const { program, metricsPort } of [trusting, direct]) {
    expect(await checkProxyTrust(metricsPort)).toMatchObject({ level: 'ok' });
    expect(warnings(program)).toEqual([]);
  }
});

it('a client cannot evade the daily limit on accounts by using many networks of one IPv6 site', async () => {
  const { url } = await surface(['--trust-proxy', '1', '--client-accounts', '2']);
  const statuses: number[] = [];
  for (let n = 0; n < 64; n++) {
    const headers = { 'X-Forwarded-For': `2001:db8:1:${(n * 256).toString(16)}::1` };
    const answer = await fetch(`${url}/exports?did=did:web:a${n}.example`, { headers });
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(8);
  expect((await ask(`${url}/exports`, { did: account })).status).toBe(200);
});
