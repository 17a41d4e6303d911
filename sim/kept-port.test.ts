import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { keepPort } from './kept-port.ts';

async function listenOnce(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: given } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return given;
}

/** Returns true if a socket on this machine uses the port. */
function taken(port: number): boolean {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .some((line) => line.trim().split(/\s+/)[1] === local);
}

it('a reserved port is in use, refuses connections, and can be reused after its release', async () => {
  const port = await listenOnce(0);
  const kept = await keepPort('127.0.0.1', port);
  expect(taken(port)).toBe(true);
  const [error] = (await once(connect(port, '127.0.0.1'), 'close').catch((reason: unknown) => [reason])) as [unknown];
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  await kept.release();
  expect(taken(port)).toBe(false);
  expect(await listenOnce(port)).toBe(port);
  await kept.release();
});
