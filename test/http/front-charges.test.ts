import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { opened } from '../../harness/net/raw-http.ts';
import { until } from '../../harness/process/until.ts';
import { ConnectionTable } from '../../src/http/connections/connection-table.ts';
import type { NetworkTier } from '../../src/http/connections/network-tiers.ts';
import { FairTurns } from '../../src/http/fair-turns.ts';
import { openFront } from '../../src/http/front.ts';

/** Tests the charges of admission control, apart from the charges for turns. */

const get = (client: string) => `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n\r\n`;

async function charging() {
  const charged: string[] = [];
  let unanswered = 0;
  class RecordedTurns extends FairTurns {
    override charge(tier: NetworkTier, pieces: number): void {
      charged.push(`${tier.network} ${pieces}`);
      super.charge(tier, pieces);
    }
  }
  const nextTurn = (act: () => void): void => void setImmediate(act);
  const monotonic = (): number => performance.now();
  const table = new ConnectionTable({ total: 16, perClient: null, stallMs: 15_000 }, () => undefined);
  // Respond only to the first request of each client.
  const server = createServer((message, response) => {
    const tracked = table.of(message.socket);
    if (!tracked) return;
    tracked.outstanding += 1;
    tracked.answered += 1;
    if (tracked.answered > 1) {
      unanswered += 1;
      return;
    }
    response.end('answered', () => {
      tracked.outstanding -= 1;
      front.next(message.socket);
    });
  });
  const turns = new RecordedTurns({ maxWaiting: 16, nextTurn, monotonic });
  const front = openFront(server, { table, turns, proxies: 1, nextTurn, monotonic, refuseSilent: () => undefined });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    table.closeAll();
  });
  const address = server.address();
  return {
    charged,
    table,
    unanswered: () => unanswered,
    port: typeof address === 'object' && address !== null ? address.port : 0,
  };
}

it('admission control charges a client that disconnects before its response, but not a client that disconnects after its response', async () => {
  const { charged, table, port, unanswered } = await charging();
  for (const [client, requests] of [
    ['192.0.2.1', 1],
    ['192.0.2.2', 2],
  ] as const) {
    const socket = await opened(port);
    socket.write(get(client));
    await once(socket, 'data');
    if (requests === 2) {
      socket.write(get(client));
      await until('the second request has arrived', () => unanswered() === 1);
    }
    socket.destroy();
    await until('the connection has ended', () => table.size === 0);
  }
  expect(charged).toEqual(['192.0.2.2 16']);
});

it.each(['\n', '\n\n', '\r\n\r\n'])(
  'admission control disconnects and charges a client that sends many blank lines before a request (%j)',
  async (line) => {
    const { charged, table, port } = await charging();
    const socket = await opened(port);
    socket.write(`${line.repeat(200)}${get('192.0.2.4')}`);
    await until('the connection has ended', () => charged.length > 0 && table.size === 0);
    expect(charged).toEqual([expect.stringMatching(/^127\.0\.0\.1.* 16$/)]);
  },
);

it('admission control charges a client that pipelines too many requests', async () => {
  const { charged, table, port } = await charging();
  const socket = await opened(port);
  socket.on('error', () => undefined);
  socket.write(get('192.0.2.3').repeat(80));
  await until('the connection has ended', () => charged.length > 0 && table.size === 0);
  expect(charged).toEqual(['192.0.2.3 16']);
});
