import { once } from 'node:events';
import { encode } from '@atcute/cbor';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import { createSlots } from '../../network/guard/slots.ts';
import { hour, micros, minute, second } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { createInputMemory } from '../ingest/ports.ts';
import { createStreamOpener, liveTimings } from '../stream/outbound.ts';
import { findStreamStart, isShuffled, type SampledPage, searchCursor } from './cursor-search.ts';

const searchMargin = hour;

const limit = 250;

/**
 * Creates a labeler and the list of the cursors requested from it. `authored(id)` is the authored time of the row `id`.
 */
function labeler(rows: number, authored: (id: number) => number | null) {
  const asked: number[] = [];
  return {
    asked,
    read: async (cursor: number): Promise<SampledPage> => {
      asked.push(cursor);
      const ids = Array.from({ length: Math.max(0, Math.min(limit, rows - cursor)) }, (_, i) => cursor + 1 + i);
      return {
        authored: ids.map((id) => {
          const at = authored(id);
          return at === null ? null : micros(at);
        }),
        cursor: ids.at(-1) ?? null,
      };
    },
  };
}

describe('searchCursor', () => {
  test('finds a cursor shortly before the first row at or after the target time', async () => {
    const cases = fc.record({
      rows: fc.integer({ min: 1, max: 200_000 }),
      target: fc.integer({ min: 0, max: 250_000 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ rows, target }) => {
        const { read, asked } = labeler(rows, (id) => id * minute);
        const found = await searchCursor(micros(target * minute), read);
        if (found.kind !== 'found') throw new Error(found.why);
        expect(found.cursor).toBeLessThan(Math.max(1, target));
        expect(Math.min(target, rows) - found.cursor).toBeLessThanOrEqual(60 + 100 + 6);
        expect(asked.length).toBeLessThan(50);
      }),
      { numRuns: 50 },
    );
  });

  test('finds cursor 0 for a labeler whose rows are all newer than the target', async () => {
    const { read } = labeler(5_000, (id) => 100 * hour + id);
    expect(await searchCursor(micros(50 * hour), read)).toEqual({ kind: 'found', cursor: 0 });
  });

  test('tolerates single labels with wrong or missing dates', async () => {
    const { read } = labeler(50_000, (id) =>
      id % 17 === 0 ? 1e18 : id % 23 === 0 ? 0 : id % 29 === 0 ? null : id * minute,
    );
    const found = await searchCursor(micros(40_000 * minute), read);
    expect(found).toMatchObject({ kind: 'found' });
    expect((found as { cursor: number }).cursor).toBeLessThan(40_000);
  });

  test('finds no cursor if ids do not increase with time', async () => {
    const { read } = labeler(50_000, (id) => ((id * 7919) % 50_000) * minute);
    expect(await searchCursor(micros(40_000 * minute), read)).toMatchObject({ kind: 'unverified' });
  });

  test('finds no cursor if authored times increase and then decrease', async () => {
    const { read } = labeler(50_000, (id) => Math.min(id, 50_000 - id) * minute);
    expect(await searchCursor(micros(20_000 * minute), read)).toMatchObject({ kind: 'unverified' });
  });

  test('finds no cursor if the cursors of pages are missing or do not advance', async () => {
    const { read } = labeler(50_000, (id) => id * minute);
    const without = async (cursor: number): Promise<SampledPage> => ({ ...(await read(cursor)), cursor: null });
    const constant = async (cursor: number): Promise<SampledPage> => ({ ...(await read(cursor)), cursor });
    expect(await searchCursor(micros(0), without)).toMatchObject({ kind: 'unverified' });
    expect(await searchCursor(micros(0), constant)).toMatchObject({ kind: 'unverified' });
  });
});

test('isShuffled is true for a page whose times decrease repeatedly, and false if single times are wrong', () => {
  const rising = Array.from({ length: 100 }, (_, i) => micros(i * hour));
  expect(isShuffled(rising)).toBe(false);
  expect(isShuffled(rising.map((at, i) => (i % 15 === 3 ? micros(0) : at)))).toBe(false);
  expect(isShuffled(rising.map((_, i) => micros(((i * 37) % 100) * hour)))).toBe(true);
});

test('searchCursor leaves a margin of an hour before the target', async () => {
  const { read } = labeler(50_000, (id) => id * second);
  const found = await searchCursor(micros(40_000 * second), read);
  if (found.kind !== 'found') throw new Error(found.why);
  expect(found.cursor * second).toBeLessThanOrEqual(40_000 * second - searchMargin);
});

test('searchCursor finds no cursor if rows within pages are not in order', async () => {
  const { read } = labeler(50_000, (id) => Math.floor(id / limit) * limit * minute + (id % 2) * hour);
  expect(await searchCursor(micros(40_000 * minute), read)).toEqual({ kind: 'unverified', why: 'a page out of order' });
});

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
