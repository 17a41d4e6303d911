import { once } from 'node:events';
import { encode } from '@atcute/cbor';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import { createSlots } from '../../network/guard/slots.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { createInputMemory } from '../ingest/ports.ts';
import { createStreamOpener, liveTimings } from '../stream/open-stream.ts';
import { findStreamStart } from './fill-before.ts';

const clock = () => micros(Date.now() * 1000);
const timings = { ...liveTimings, resumeMs: 100, requestMs: 5_000 };
const openStream = createStreamOpener({
  policy: { allowLoopback: true },
  userAgent: 'Almanac/test',
  resolve: createNameResolver({ hostsFile: null }).resolve,
  handshakes: createSlots({ perHost: 8, total: 8, maxWaiting: 8 }),
  timings,
});
const peer = { source: 'did:plc:a', privileged: false };
const memory = createInputMemory();
const portsWith = (waiting: typeof wait) => ({
  query: { openStream, memory },
  time: { timings, wait: waiting, clock, epoch: micros(0) },
});
let server: WebSocketServer | null = null;

afterEach(async () => {
  const closing = server;
  for (const socket of closing?.clients ?? []) socket.terminate();
  await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(null)));
  server = null;
});

/** Starts a stream that sends a message every few milliseconds. Returns the endpoint of the stream. */
async function endless(message: (n: number) => [header: object, body: object]): Promise<string> {
  const made = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server = made;
  made.on('connection', (socket) => {
    let n = 0;
    const send = (): void => {
      n += 1;
      socket.send(Buffer.concat(message(n).map((part) => encode(part))));
    };
    const timer = setInterval(send, 20);
    socket.on('close', () => clearInterval(timer));
  });
  await once(made, 'listening');
  const address = made.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

const never = new AbortController().signal;

test('a stream that sends only messages without labels is quiet', async () => {
  const endpoint = await endless(() => [{ op: 1, t: '#later' }, {}]);
  const intake = { keep: () => Promise.reject(new Error('nothing to keep')) };
  expect(await findStreamStart({ endpoint, peer }, intake, portsWith(wait), clock(), never)).toBe(null);
});

test('a stream that is never quiet is sampled for a bounded time, and its rows are stored', async () => {
  const label = { src: 'did:web:a.example', uri: 'did:web:b.example', val: 'v', cts: '2026-01-01T00:00:00Z' };
  const endpoint = await endless((seq) => [
    { op: 1, t: '#labels' },
    { seq, labels: [label] },
  ]);
  let kept = 0;
  const keep = (rows: readonly unknown[]) => {
    kept += rows.length;
    return Promise.resolve();
  };
  // No quiet period passes before the next message, and the sample's time is over after the fifth, so that the test does
  // not depend on how fast the machine delivers them.
  let periods = 0;
  const over = Promise.withResolvers<void>();
  const waiting = (ms: number, signal: AbortSignal): Promise<void> => {
    if (ms !== timings.resumeMs) return ms === 3 * timings.resumeMs ? over.promise : wait(3_600_000, signal);
    periods += 1;
    if (periods === 6) over.resolve();
    return wait(3_600_000, signal);
  };
  expect(await findStreamStart({ endpoint, peer }, { keep }, portsWith(waiting), clock(), never)).toBe(0);
  expect(kept).toBeGreaterThanOrEqual(5);
  expect(kept).toBeLessThan(100);
});
