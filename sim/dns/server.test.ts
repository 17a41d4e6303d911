import { Resolver } from 'node:dns/promises';
import { afterEach, expect, test } from 'vitest';
import { DnsServer } from './server.ts';
import { hostileZone } from './zone.ts';

const server = new DnsServer(hostileZone);
afterEach(() => server.stop());

function resolverOf(port: number, timeout: number): Resolver {
  const made = new Resolver({ timeout, tries: 1 });
  made.setServers([`127.0.0.1:${port}`]);
  return made;
}

test('the response of the name server depends on the queried name', async () => {
  const port = await server.start('127.0.0.1');
  const [dns, hasty] = [resolverOf(port, 60_000), resolverOf(port, 200)];
  const outcome = (name: string, by = dns): Promise<unknown> =>
    by.resolve4(name).catch((error: { code: string }) => error.code);
  expect({
    address: await outcome('a-127-64-3-9.d7.test'),
    many: ((await outcome('many-127-64-3-9.d7.test')) as string[]).length,
    never: await outcome('never-1.d7.test', hasty),
    nx: await outcome('nx-1.d7.test'),
    failure: await outcome('fail-1.d7.test'),
    junk: await outcome('junk-1.d7.test', hasty),
    outside: await outcome('example.com'),
    localhost: await outcome('a.localhost'),
  }).toEqual({
    address: ['127.64.3.9'],
    many: 25,
    never: 'ETIMEOUT',
    nx: 'ENOTFOUND',
    failure: 'ESERVFAIL',
    junk: expect.stringMatching(/^E/) as string,
    outside: 'ENOTFOUND',
    localhost: ['127.0.0.1'],
  });
});

test('the name server returns no records for types other than A', async () => {
  const dns = resolverOf(await server.start('127.0.0.1'), 60_000);
  await expect(dns.resolve6('a-127-64-3-9.d7.test')).rejects.toMatchObject({ code: 'ENODATA' });
});
