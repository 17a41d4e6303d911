import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../src/http/listening.ts';

/** Tests several listening sockets of one server that share a port. */

const at = { host: '127.0.0.1', port: 0 };

async function listening(server: ReturnType<typeof createServer>, sockets: number) {
  const found = await listen(server, at, sockets);
  onTestFinished(async () => {
    server.close();
    await found.close();
  });
  return found;
}

/**
 * Returns the maximum number of connections that a server accepts in one turn of the event loop while 64 connections
 * are waiting.
 */
async function mostInATurn(sockets: number): Promise<number> {
  let [inTurn, most, all] = [0, 0, 0];
  const everyone = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.destroy();
    inTurn += 1;
    all += 1;
    most = Math.max(most, inTurn);
    setImmediate(() => {
      inTurn = 0;
    });
    if (all === 64) everyone.resolve();
  });
  const { port } = await listening(server, sockets);
  for (let n = 0; n < 64; n += 1) connect({ host: '127.0.0.1', port }).on('error', () => undefined);
  await everyone.promise;
  return most;
}

it('a server with several sockets accepts several connections per event loop turn, but a server with a single socket accepts only one', async () => {
  expect(await mostInATurn(1)).toBe(1);
  expect(await mostInATurn(8)).toBeGreaterThan(2);
});

it('every socket of a server, except the first one, immediately closes connections of refused peers', async () => {
  let accepted = 0;
  const asked = new Set<string>();
  const server = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  const found = await listen(server, at, 4, (address) => {
    asked.add(address);
    return true;
  });
  onTestFinished(async () => {
    server.close();
    await found.close();
  });
  const sockets = Array.from({ length: 64 }, () =>
    connect({ host: at.host, port: found.port }).on('error', () => undefined),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'close')));
  expect(asked).toEqual(new Set(['127.0.0.1']));
  // The kernel selects the socket based on the client's port. On average, the first socket gets sixteen of these
  // connections.
  expect(accepted).toBeLessThan(48);
});

it('the listening sockets of a server do not share their port with another server', async () => {
  const { port } = await listening(createServer(), 4);
  await expect(listen(createServer(), { ...at, port }, 4)).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});

it('a server on a free port takes another one if a program takes its port before the server binds it', async () => {
  const [server, other] = [createServer(), createServer()];
  const { listen } = server;
  // The other program takes the free port that the server has just found.
  server.listen = (...args: unknown[]) => {
    server.listen = listen;
    const [{ port }] = args as [{ port: number }];
    other.listen({ ...at, port }, () => Reflect.apply(listen, server, args));
    return server;
  };
  onTestFinished(() => void other.close());
  const { port } = await listening(server, 4);
  const { port: taken } = other.address() as AddressInfo;
  expect(taken).toBeGreaterThan(0);
  expect(port).not.toBe(taken);
});

it('a server responds on each of its sockets, and closes all of them', async () => {
  const server = createHttp((_request, response) => response.end('answered'));
  const { port, close } = await listen(server, at, 4);
  const answers = await Promise.all(Array.from({ length: 32 }, () => fetch(`http://127.0.0.1:${port}/`)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 32 }, () => 200));
  await Promise.all(answers.map((one) => one.text()));
  server.close();
  server.closeAllConnections();
  await close();
  const late: Socket = connect({ host: '127.0.0.1', port });
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});
