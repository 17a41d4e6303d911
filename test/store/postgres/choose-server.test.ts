import { connect as connectSocket, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listenForTest, suspendedServer } from '../../../harness/net/listen.ts';
import { freePort } from '../../../harness/net/ports.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { type ChooseOptions, connect, endConnection } from '../../../src/store/postgres/base/connect.ts';
import { type PostgresHost, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';

/** Timeout of one server, in milliseconds. It exceeds the timeout of the test. */
const connectMs = 60_000;

describe.skipIf(!hasPostgres())('the choice among several servers', () => {
  let server: PostgresServer;
  let port = 0;
  beforeAll(async () => {
    port = await freePort();
    server = await startPostgres({ port });
  });
  afterAll(() => server.stop());

  /** Returns the port of the chosen server. */
  async function chosen(ports: readonly number[], change: Partial<ChooseOptions> & { firstPort?: number } = {}) {
    const hosts = ports.map((one): PostgresHost => ({ host: '127.0.0.1', port: one }));
    const place = { ...parsePostgresUrl(server.url('choice')), hosts };
    const first = hosts.find((host) => host.port === change.firstPort) ?? null;
    const options = { target: 'any', connectMs, application: 'almanac', ...change, first } as const;
    const connection = await connect(place, options);
    await endConnection(connection);
    return connection.server.port;
  }

  it('skips suspended servers without waiting for their timeout', async () => {
    const suspended = await Promise.all([suspendedServer(), suspendedServer(), suspendedServer()]);
    expect(await chosen([...suspended, port])).toBe(port);
  });

  it('waits longer for the server to which other connections are open than for the other servers', async () => {
    // The proxy delays the handshake beyond the time after which the next server is usually tried; at first, endlessly.
    let isEndless = true;
    const proxy = createServer((client) => {
      if (isEndless) return;
      void wait(1_000).then(() => {
        const upstream = connectSocket({ host: '127.0.0.1', port });
        onTestFinished(() => void upstream.destroy());
        upstream.on('error', () => undefined);
        client.pipe(upstream).pipe(client);
      });
    });
    const { port: slow } = await listenForTest(proxy);
    expect(await chosen([slow, port])).toBe(port);
    isEndless = false;
    expect(await chosen([port, slow], { firstPort: slow })).toBe(slow);
  });

  it('fails with a reason for each server if no server is suitable', async () => {
    await expect(chosen([1, port], { target: 'standby' })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/127\.0\.0\.1:1\b.*; 127\.0\.0\.1:\d+ is a primary/),
    });
  });
});
