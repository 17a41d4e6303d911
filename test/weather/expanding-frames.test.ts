import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { until } from '../../harness/process/until.ts';
import { settingsOf, startStation } from '../../harness/weather/weather-station.ts';

/** Tests a host that sends small frames as fast as they are read. Each frame decompresses to a megabyte. */

const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
/** A megabyte takes the classifier about 10 ms, and a chunk of a socket contains more than a thousand such frames. */
const payload = zstdCompressSync(Buffer.alloc(1_048_576, '['), { dictionary });
const frame = Buffer.concat([Buffer.from([0x82, payload.length]), payload]);
const chunk = Buffer.concat(Array.from({ length: Math.ceil(65_536 / frame.length) }, () => frame));

/** Starts the host. `read` returns the number of chunks sent so far; the host waits for the client to read. */
async function expandingHost(): Promise<{ url: string; read: () => number }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
  let read = 0;
  server.on('connection', (peer) => {
    peer.on('error', () => undefined);
    const socket = (peer as unknown as { _socket: Socket })._socket;
    const send = (): void => {
      if (socket.destroyed) return;
      read += 1;
      if (socket.write(chunk)) setImmediate(send);
      else socket.once('drain', send);
    };
    send();
  });
  onTestFinished(() => {
    for (const peer of server.clients) peer.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/subscribe`, read: () => read };
}

test('a host whose small frames decompress to large ones neither delays the other host nor keeps the instrument from stopping', async () => {
  const station = await startStation({ speed: 1 });
  onTestFinished(() => station.end());
  await station.weather().stop();
  const sound = station.artifact().source.endpoint;
  const { url, read } = await expandingHost();
  const jetstream = [sound, url];
  await station.restart({ settings: { ...settingsOf(station), jetstream, dictionary } });
  await until('the host is read', () => read() > 2, 30_000);

  // Measure the longest turn of the event loop, because a turn must not process a whole chunk.
  let longestMs = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    const before = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1));
    longestMs = Math.max(longestMs, performance.now() - before);
  }
  expect(longestMs).toBeLessThan(2_000);
  const counted = station.told.outcomes.counted ?? 0;
  await until('events of the other host are committed', () => (station.told.outcomes.counted ?? 0) > counted, 10_000);

  const began = performance.now();
  await station.weather().stop();
  expect(performance.now() - began).toBeLessThan(5_000);
});
