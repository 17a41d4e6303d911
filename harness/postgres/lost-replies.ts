import { connect, createServer, type Socket } from 'node:net';
import { listenForTest } from '../net/listen.ts';
import type { PostgresServer } from './server.ts';

/** A proxy that can lose the replies of a server. */
interface LossyProxy {
  readonly port: number;
  /** Loses the reply to the next commit, and all replies after it. */
  lose(): void;
  /** Ends all connections, and loses no further reply. */
  restore(): void;
}

/** Starts a proxy to a server until the test ends. */
export async function startLossyProxy(server: PostgresServer): Promise<LossyProxy> {
  let isLosing = false;
  let isAnswering = true;
  const clients: Socket[] = [];
  const proxy = createServer((client) => {
    const upstream = connect(`${server.socket}/.s.PGSQL.5432`);
    clients.push(client);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => {
      if (isLosing && data.includes('COMMIT\0')) isAnswering = false;
      upstream.write(data);
    });
    upstream.on('data', (data) => isAnswering && client.write(data));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  const { port } = await listenForTest(proxy);
  return {
    port,
    lose: () => {
      isLosing = true;
    },
    restore: () => {
      isLosing = false;
      isAnswering = true;
      for (const client of clients) client.destroy();
    },
  };
}
