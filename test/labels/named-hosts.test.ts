import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { createOutbound, liveTimings } from '../../src/labels/stream/outbound.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts a host that counts its requests, and the clients of an instrument with the timings of the live network. */
async function start() {
  const requests = { count: 0 };
  const server = createServer((_, response) => {
    requests.count += 1;
    response.setHeader('Content-Type', 'application/json').end('{"labels":[]}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(() => server.close());
  const plc = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutbound({
    ...{ policy: { allowLoopback: true }, plc, userAgent: 'test', timings: liveTimings, clock: () => 0 },
  });
  cleanups.push(() => outbound.close());
  return { outbound, requests, host: new URL(plc).host, url: `${plc}/xrpc/com.atproto.label.queryLabels` };
}

test('unrelated sources whose documents name the host of a labeler cause few requests to that host, and do not delay the labeler', async () => {
  // The clock of the rate limit advances only when the test advances it, because the machine may need seconds for the
  // requests.
  let nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const { outbound, requests, url } = await start();
  const stop = new AbortController();
  const ask = (source: string, privileged: boolean) =>
    outbound.http.getJson(url, {
      ...{ maxBytes: 1_000, timeoutMs: 10_000, signal: stop.signal, peer: { source, privileged } },
    });
  const strangers = Array.from({ length: 600 }, (_, i) => ask(`did:web:l${i}.example`, false));
  await Promise.all(strangers.slice(0, 100));
  expect(requests.count).toBe(100);
  nowMs += 1_000;
  await until('the limit allows the requests of a second', () => requests.count === 102);
  expect(await ask('did:web:mod.example', true)).toMatchObject({ kind: 'json' });
  stop.abort();
  expect((await Promise.all(strangers)).filter(({ kind }) => kind === 'aborted').length).toBeGreaterThan(490);
});

test('unrelated sources whose documents name the host of a labeler hold at most four streams to that host, and the labeler still gets a stream', async () => {
  const { outbound, host } = await start();
  const { signal } = new AbortController();
  const take = (source: string, privileged: boolean) =>
    outbound.streams.acquire({ host, source, privileged }, 0, signal);
  const strangers = await Promise.all(Array.from({ length: 40 }, (_, i) => take(`did:web:l${i}.example`, false)));
  expect(strangers.filter((slot) => slot !== 'busy')).toHaveLength(4);
  expect(await take('did:web:mod.example', true)).not.toBe('busy');
});
