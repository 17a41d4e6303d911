import { connect, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { manualClock } from '../../sim/clock.ts';
import { createSim } from '../../sim/index.ts';

const startMs = Date.parse('2026-11-20T11:30:00Z');
const hourMs = 3_600_000;
const sim = createSim({ rate: 64, clock: manualClock(startMs).now, patienceMs: 50 });
afterAll(() => sim.stop());

/** Connects to `subscribeEvents` with a cursor of two hours ago, and does not read. */
async function stuckConsumer(host: string): Promise<Socket> {
  const { hostname, port } = new URL(host);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.write(
    `GET /xrpc/network.bsky.jetstream.subscribeEvents?cursor=${(startMs - 2 * hourMs) * 1000} HTTP/1.1\r\n` +
      `Host: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  return socket;
}

/** Returns the number of complete frames that a socket still receives. */
async function remainingFrames(socket: Socket): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  let frames = 0;
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at + 4 <= bytes.length; ) {
    const short = (bytes[at + 1] ?? 0) & 0x7f;
    const [head, length] = short < 126 ? [2, short] : [4, bytes.readUInt16BE(at + 2)];
    if (at + head + length > bytes.length) break;
    frames += 1;
    at += head + length;
  }
  return frames;
}

it('the record of deliveries bounds the number of frames that a consumer received if the host closes the connection during a write', async () => {
  const { jetstreamHost } = await sim.start();
  const socket = await stuckConsumer(jetstreamHost);
  await until('the host ends the socket', () => sim.truth.deliveries.some(({ closedAtUs }) => closedAtUs !== null));
  const received = await remainingFrames(socket);
  const all = { from: (startMs - 3 * hourMs) * 1000, to: startMs * 1000 };
  const [least, most] = (['certain', 'possible'] as const).map(
    (certainty) => sim.truth.deliveredBetween(all.from, all.to, undefined, certainty).events,
  );
  expect(received).toBeGreaterThan(least ?? 0);
  expect(received).toBeLessThanOrEqual(most ?? 0);
});
