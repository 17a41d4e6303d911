import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { exchange, opened } from '../../harness/net/raw-http.ts';

/** Starts a server that resets every connection after its first byte, and returns its port. */
async function resettingPort(): Promise<number> {
  const server = createServer((socket: Socket) => void socket.once('data', () => socket.resetAndDestroy()));
  return (await listenForTest(server)).port;
}

it('a raw connection that its peer resets is closed without an uncaught exception', async () => {
  const socket = await opened(await resettingPort());
  expect(socket.listenerCount('error')).toBeGreaterThan(0);
  socket.write('a');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
});

it('an exchange rejects if its connection is reset', async () => {
  await expect(exchange(await resettingPort(), ['a'], false)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('opening a raw connection to a closed port rejects', async () => {
  const server = createServer();
  const { port } = await listenForTest(server);
  server.close();
  await once(server, 'close');
  await expect(opened(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
