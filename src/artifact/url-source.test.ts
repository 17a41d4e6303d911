import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ArtifactSource, Reading, Recognised } from './reading.ts';
import { UrlSource } from './url-source.ts';

const recognise = (value: unknown): Recognised<unknown> => ({ kind: 'recognised', artifact: value });

/** Timeout of each wait in these tests, in milliseconds; longer than any step takes on a busy machine. */
const patienceMs = 30_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let answer: Answer;
let asked: IncomingMessage[] = [];
let seen: Reading<unknown>[] = [];
let source: ArtifactSource<unknown>;
let now = 0;
let monotonic = 0;

beforeEach(async () => {
  asked = [];
  seen = [];
  now = Date.parse('2026-11-20T12:00:00Z');
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await source.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function at(options: { maxBytes?: number; timeoutMs?: number; graceMs?: number; url?: string } = {}) {
  const { port } = server.address() as AddressInfo;
  source = new UrlSource({
    userAgent: 'Almanac/test',
    url: new URL(options.url ?? `http://127.0.0.1:${port}/labels.json`),
    recognise,
    isHeld: (artifact) => (artifact as { hold?: boolean }).hold === true,
    maxBytes: options.maxBytes ?? 1000,
    pollMs: 5,
    timeoutMs: options.timeoutMs ?? patienceMs,
    graceMs: options.graceMs ?? 60_000,
    firstAnswerMs: patienceMs,
    clock: () => now,
    monotonic: () => monotonic,
    observe: (reading) => seen.push(reading),
  });
  return source;
}

/** Waits for the given number of polls that begin after this call. */
async function polled(times = 2): Promise<void> {
  const wanted = asked.length + times;
  await vi.waitFor(() => expect(asked.length).toBeGreaterThanOrEqual(wanted), { timeout: patienceMs, interval: 2 });
}

const modified = 'Fri, 20 Nov 2026 11:59:00 GMT';

it('the URL source reads the artifact with the modification time of the response', async () => {
  answer = (_request, response) => response.writeHead(200, { 'Last-Modified': modified }).end('{"n":1}');
  await at().start();
  expect(asked[0]?.headers).toMatchObject({ 'user-agent': 'Almanac/test' });
  expect(source.read()).toMatchObject({ kind: 'readable', artifact: { n: 1 }, modifiedAt: Date.parse(modified) });
});

it('without Last-Modified, the modification time of the artifact is the time at which its bytes first arrived', async () => {
  answer = (_request, response) => response.writeHead(200).end('{"n":1}');
  await at().start();
  const first = source.read();
  now += 5_000;
  await polled();
  expect(source.read()).toBe(first);
  expect(first).toMatchObject({ modifiedAt: now - 5_000 });
});

it('the URL source sends conditional requests and keeps its reading after a 304', async () => {
  answer = (request, response) => {
    if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end();
    else response.writeHead(200, { ETag: '"v1"', 'Last-Modified': modified }).end('{"n":1}');
  };
  await at().start();
  const first = source.read();
  await polled();
  expect(source.read()).toBe(first);
  expect(asked[1]?.headers).toMatchObject({ 'if-none-match': '"v1"', 'if-modified-since': modified });
  expect(seen).toHaveLength(1);
});

it.each([404, 410])('a response of %d makes the artifact missing immediately', async (status) => {
  answer = (_request, response) => response.writeHead(200).end('{"n":1}');
  await at().start();
  answer = (_request, response) => response.writeHead(status).end();
  await polled();
  expect(source.read()).toEqual({ kind: 'missing', why: 'the server responds that the artifact does not exist' });
});

it('an unreachable artifact keeps its last reading during the grace period and is then unreadable', async () => {
  answer = (_request, response) => response.writeHead(200).end('{"n":1}');
  await at().start();
  answer = (_request, response) => response.writeHead(500).end('{"n":2}');
  await polled();
  // The clock of the machine is set back by an hour.
  now -= 3_600_000;
  monotonic += 59_999;
  await polled();
  expect(source.read()).toMatchObject({ artifact: { n: 1 } });
  monotonic += 1;
  await polled();
  expect(source.read()).toEqual({ kind: 'unreadable', why: 'the URL cannot be reached (status 500)' });
  answer = (_request, response) => response.writeHead(200).end('{"n":3}');
  await polled();
  expect(source.read()).toMatchObject({ artifact: { n: 3 } });
});

it('a copy from before a hold, as from a node that lags, is not read for a quarter of an hour; any other older copy is', async () => {
  const earlier = 'Fri, 20 Nov 2026 11:58:59 GMT';
  const send = (body: string, modifiedAt: string) => {
    answer = (_request, response) => response.writeHead(200, { 'Last-Modified': modifiedAt }).end(body);
  };
  send('{"n":1}', modified);
  await at().start();
  send('{"n":2}', earlier);
  await polled();
  expect(source.read()).toMatchObject({ artifact: { n: 2 } });
  send('{"hold":true}', modified);
  await polled();
  send('{"n":3}', earlier);
  // The held copy has arrived for the last time before the clock moves on.
  await polled();
  monotonic += 15 * 60_000 - 1;
  await polled();
  expect(source.read()).toMatchObject({ artifact: { hold: true } });
  send('{"n":4}', 'Fri, 20 Nov 2026 12:00:00 GMT');
  await polled();
  expect(source.read()).toMatchObject({ artifact: { n: 4 } });
  send('{"n":5}', earlier);
  monotonic += 1;
  await polled();
  expect(source.read()).toMatchObject({ artifact: { n: 5 } });
});

it('a hanging poll does not extend the grace period', async () => {
  answer = (_request, response) => response.writeHead(200).end('{"n":1}');
  await at().start();
  answer = () => undefined;
  await polled(1);
  monotonic += 59_999;
  expect(source.read()).toMatchObject({ artifact: { n: 1 } });
  monotonic += 1;
  expect(source.read()).toEqual({ kind: 'unreadable', why: 'the URL cannot be reached (no response in time)' });
});

it('the URL source does not follow redirects', async () => {
  answer = (request, response) => {
    if (request.url === '/labels.json') response.writeHead(302, { Location: '/other.json' }).end();
    else response.writeHead(200).end('{"n":1}');
  };
  await at().start();
  await polled();
  expect(source.read()).toEqual({ kind: 'unreadable', why: 'the URL cannot be reached (status 302)' });
  expect(asked.filter(({ url }) => url !== '/labels.json')).toEqual([]);
});

it('an endless body is aborted at the size limit, and the artifact is unreadable', async () => {
  let sent = 0;
  answer = (_request, response) => {
    response.writeHead(200);
    const more = (): void => {
      sent += 65_536;
      if (!response.destroyed) response.write(Buffer.alloc(65_536, 0x20), () => setImmediate(more));
    };
    more();
  };
  await at({ maxBytes: 100_000 }).start();
  await vi.waitFor(
    () => expect(source.read()).toEqual({ kind: 'unreadable', why: 'the artifact is larger than 100000 bytes' }),
    patienceMs,
  );
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

it('a slow response is aborted at the deadline, and the artifact is unreadable', async () => {
  answer = (_request, response) => {
    response.writeHead(200);
    response.write('{');
  };
  await at({ timeoutMs: 50, graceMs: 0 }).start();
  await vi.waitFor(
    () => expect(source.read()).toEqual({ kind: 'unreadable', why: 'the URL cannot be reached (no response in time)' }),
    patienceMs,
  );
});

it('a response that is not an artifact makes the artifact malformed immediately', async () => {
  answer = (_request, response) => response.writeHead(200).end('<!doctype html>');
  await at().start();
  expect(source.read()).toMatchObject({ kind: 'malformed', why: 'the artifact is not a single JSON value' });
});

it('an artifact at an address without a server is unreadable from the start, and the reading states the reason', async () => {
  answer = () => undefined;
  await at({ url: 'http://127.0.0.1:1/labels.json' }).start();
  await vi.waitFor(
    () => expect(source.read()).toMatchObject({ kind: 'unreadable', why: expect.stringMatching(/cannot be reached/) }),
    patienceMs,
  );
});

it.each([
  ['more content codings than any service uses', { 'Content-Encoding': Array(6).fill('gzip').join(', ') }],
  ['an unknown content coding', { 'Content-Encoding': 'unknown' }],
])(
  'a response with %s counts as a failed request, and its broken connection does not affect later requests',
  async (_, headers) => {
    answer = (request, response) => {
      response.writeHead(200, { ...headers, 'Content-Length': '100000' }).write('x'.repeat(1000));
      setTimeout(() => request.socket.destroy(), 20);
    };
    await at().start();
    await polled(5);
    expect(source.read()).toMatchObject({ kind: 'unreadable', why: 'the URL cannot be reached (the request failed)' });
    answer = (_request, response) => response.end('{"n":1}');
    await polled();
    expect(source.read()).toMatchObject({ kind: 'readable', artifact: { n: 1 } });
  },
);

it.each<[string, Record<string, string>, number]>([
  ['without a lifetime', {}, 121_000],
  ['with max-age', { 'Cache-Control': 'max-age=300' }, 361_000],
  ['with no-cache', { 'Cache-Control': 'no-cache' }, 61_000],
])('a response that a cache repeats after its lifetime counts as no response (%s)', async (_what, headers, ageMs) => {
  const sent = new Date(now).toUTCString();
  answer = (request, response) => {
    const isKnown = request.headers['if-none-match'] === '"v1"';
    response.writeHead(isKnown ? 304 : 200, { ETag: '"v1"', Date: sent, ...headers }).end(isKnown ? '' : '{"n":1}');
  };
  await at().start();
  now += ageMs - 1_000;
  await polled();
  expect(source.read()).toMatchObject({ kind: 'readable' });
  now += 1_000;
  await polled();
  // The last response in time was that of a second ago.
  expect(source.read()).toMatchObject({ kind: 'readable' });
  monotonic += 60_000;
  await polled();
  expect(source.read()).toMatchObject({ kind: 'unreadable', why: expect.stringContaining('expired responses') });
});

it('a cache that states an age beyond the lifetime of its response counts as no response', async () => {
  answer = (_request, response) =>
    response.writeHead(200, { Age: '7200', Date: new Date(now).toUTCString() }).end('{"n":1}');
  await at().start();
  expect(source.read()).toMatchObject({ kind: 'unreadable', why: expect.stringContaining('7200 s old') });
});

it('a clock that is ahead of the server’s is stated with its difference', async () => {
  answer = (_request, response) =>
    response.writeHead(200, { Date: new Date(now - 600_000).toUTCString() }).end('{"n":1}');
  await at().start();
  expect(source.read()).toMatchObject({ why: expect.stringContaining("this clock is 600 s ahead of the server's") });
});
