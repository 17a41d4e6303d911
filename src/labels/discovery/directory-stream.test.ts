import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import type { HttpClient, TextAnswer } from '../../network/http/http.ts';
import type { DirectoryOperation } from '../../network/identity/did-document.ts';
import { type Log, silentLog } from '../../ops/log.ts';
import { DirectoryStream } from './directory-stream.ts';

const did = (n: number) => `did:plc:${String.fromCharCode(97 + (n % 26)).repeat(24)}`;

function operation(seq: number, isLabeler = true): string {
  const services = isLabeler ? { atproto_labeler: { type: 'AtprotoLabeler', endpoint: 'https://l.example' } } : {};
  return JSON.stringify({ type: 'sequenced_op', seq, did: did(seq), operation: { type: 'plc_operation', services } });
}

/** Starts a directory whose stream handles each connection with `onConnection`. */
async function directory(onConnection: (peer: WebSocket, cursor: string | null, nth: number) => void) {
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/export/stream' });
  const cursors: (string | null)[] = [];
  await new Promise((resolve) => host.once('listening', resolve));
  host.on('connection', (peer, request) => {
    const cursor = new URL(request.url ?? '', 'http://d').searchParams.get('cursor');
    cursors.push(cursor);
    onConnection(peer, cursor, cursors.length);
  });
  onTestFinished(async () => {
    for (const client of host.clients) client.terminate();
    await new Promise((resolve) => host.close(resolve));
  });
  return { url: `http://127.0.0.1:${(host.address() as AddressInfo).port}/`, cursors };
}

function follow(url: string, options: Partial<ConstructorParameters<typeof DirectoryStream>[0]> = {}) {
  const stop = new AbortController();
  const operations: DirectoryOperation[] = [];
  const waits: number[] = [];
  const warnings: unknown[] = [];
  const warn: Log['warn'] = (message, fields) => void warnings.push({ message, ...fields });
  const stream = new DirectoryStream({
    directory: url,
    resolve: createNameResolver({ hostsFile: null }).resolve,
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    http: { getText: async () => ({ kind: 'status', status: 404, retryAfterMs: null, error: null }) },
    random: () => 0,
    wait: async (ms, signal) => {
      waits.push(ms);
      // A wait of one hour never resolves; a shorter wait resolves immediately.
      if (ms < 3_600_000) await new Promise((resolve) => setImmediate(resolve));
      else await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    log: { ...silentLog, warn },
    onOperation: (one) => void operations.push(one),
    position: null,
    ...options,
  });
  const run = stream.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await run;
  });
  return { stream, operations, waits, warnings, seqs: () => operations.map(({ seq }) => seq) };
}

test('the directory stream begins with live operations, and a new connection resumes after the last delivered operation', async () => {
  const { url, cursors } = await directory((peer, _, nth) => {
    for (const seq of nth === 1 ? [7, 8] : [9]) peer.send(operation(seq, seq !== 8));
    if (nth === 1) peer.close(1001);
  });
  const { stream, operations } = follow(url);
  await expect.poll(() => operations.length).toBe(3);
  expect(cursors).toEqual([null, '8']);
  expect(operations).toEqual([7, 8, 9].map((seq) => ({ seq, did: did(seq), isLabeler: seq !== 8 })));
  expect(stream.position).toBe(9);
});

/** Serves pages of the export with at most `count` lines, from the operations up to `newest`. */
function exportOf(newest: number, options: { readonly maxLines?: number; readonly onPage?: () => void } = {}) {
  const asked: string[] = [];
  const getText: HttpClient['getText'] = async (url) => {
    const { searchParams: query } = new URL(url);
    const [after, count] = [Number(query.get('after')), Number(query.get('count'))];
    asked.push(`${after} ${count}`);
    options.onPage?.();
    if (count > (options.maxLines ?? 1_000)) return { kind: 'too_large' };
    const seqs = Array.from({ length: Math.min(count, newest - after) }, (_, i) => after + 1 + i);
    return { kind: 'text', status: 200, date: null, text: seqs.map((seq) => operation(seq)).join('\n') };
  };
  return { asked, getText };
}

test("the directory stream reads the export page by page from an outdated position up to the stream's window", async () => {
  const { url, cursors } = await directory((peer, cursor) => {
    if (Number(cursor) < 2_500) peer.close(1000, 'OutdatedCursor');
    else peer.send(operation(2_501));
  });
  const { asked, getText } = exportOf(2_500);
  const { seqs, waits, warnings } = follow(url, { position: 12, http: { getText } });
  await expect.poll(() => seqs().length).toBe(2_489);
  expect(seqs()).toEqual(Array.from({ length: 2_489 }, (_, i) => 13 + i));
  expect({ asked, cursors, warnings }).toEqual({
    asked: ['12 1000', '1012 1000', '2012 1000'],
    cursors: ['12', '2500'],
    warnings: [],
  });
  expect(waits.filter((ms) => ms === 1_000).length).toBeGreaterThanOrEqual(2);
});

test('an export page beyond the byte limit is requested again with fewer operations', async () => {
  const { url } = await directory((peer, cursor) => {
    if (Number(cursor) < 300) peer.close(1000, 'OutdatedCursor');
  });
  const { asked, getText } = exportOf(300, { maxLines: 250 });
  const { seqs } = follow(url, { position: 0, http: { getText } });
  await expect.poll(() => seqs().length).toBe(300);
  expect(asked).toEqual(['0 1000', '0 250', '250 250']);
});

test('an export that ends in an error is resumed after the last operation that it contained', async () => {
  const { url } = await directory((peer, cursor) => {
    if (Number(cursor) < 1_500) peer.close(1000, 'OutdatedCursor');
  });
  let pages = 0;
  const whole = exportOf(1_500);
  const getText: HttpClient['getText'] = async (target, options) => {
    pages += 1;
    return pages === 2
      ? { kind: 'status', status: 503, retryAfterMs: null, error: null }
      : whole.getText(target, options);
  };
  const { stream, seqs } = follow(url, { position: 0, http: { getText } });
  await expect.poll(() => seqs().length).toBe(1_500);
  expect([whole.asked, stream.position]).toEqual([['0 1000', '1000 1000'], 1_500]);
});

/**
 * Creates a stream that accepts positions of 20 and above, and an export of the operations up to 20. The first `times`
 * requests for the export fail.
 */
async function afterFailures(failure: TextAnswer, times: number) {
  const { url, cursors } = await directory((peer, cursor) => {
    if (cursor === null || Number(cursor) < 20) peer.close(1000, 'OutdatedCursor');
    else peer.send(operation(21));
  });
  const whole = exportOf(20);
  let requests = 0;
  const getText: HttpClient['getText'] = async (target, options) => {
    requests += 1;
    return requests <= times ? failure : whole.getText(target, options);
  };
  return { cursors, ...follow(url, { position: 12, http: { getText } }) };
}

const status = (code: number, retryAfterMs: number | null = null): TextAnswer => ({
  ...{ kind: 'status', status: code, retryAfterMs, error: null },
});

test.each<{ why: string; failure: TextAnswer }>([
  ...[400, 401, 403, 429, 500, 503].map((code) => ({ why: `status ${code}`, failure: status(code) })),
  { why: 'timeout', failure: { kind: 'timeout', phase: 'answer' } },
])(
  'an export that fails with $why does not change the position, even after many failures',
  async ({ why, failure }) => {
    const { seqs, cursors, warnings } = await afterFailures(failure, 25);
    await expect.poll(seqs).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21]);
    expect(cursors).toEqual([...Array.from({ length: 26 }, () => '12'), '20']);
    expect(warnings).toEqual([
      {
        message: 'the paged export of the did:plc directory cannot be read; the stored cursor of its stream is kept',
        why,
      },
    ]);
  },
);

test.each([404, 405, 410, 501])(
  'a position is discarded immediately if the export responds with status %i',
  async (code) => {
    const { url, cursors } = await directory((peer, cursor) => {
      if (cursor !== null) peer.close(1000, 'OutdatedCursor');
      else peer.send(operation(99));
    });
    const { seqs, warnings } = follow(url, { position: 12, http: { getText: async () => status(code) } });
    await expect.poll(seqs).toEqual([99]);
    expect({ cursors, warnings }).toMatchObject({ cursors: ['12', null], warnings: [{ why: 'OutdatedCursor' }] });
  },
);

test.each([
  { retryAfterMs: 90_000, waitMs: 90_000 },
  { retryAfterMs: 10, waitMs: 500 },
  { retryAfterMs: 999_999_999_000, waitMs: 3_600_000 },
])('the export is requested again $waitMs ms after a Retry-After of $retryAfterMs ms', async (one) => {
  const { waits } = await afterFailures(status(429, one.retryAfterMs), 1);
  await expect.poll(() => waits[0]).toBe(one.waitMs);
});

test('the position is discarded once the export has failed for 6 hours', async () => {
  const { url, cursors } = await directory((peer, cursor) => {
    if (cursor !== null) peer.close(1000, 'OutdatedCursor');
    else peer.send(operation(99));
  });
  let requests = 0;
  const getText = async (): Promise<TextAnswer> => {
    requests += 1;
    return status(403, 3_000_000);
  };
  const { seqs, warnings, waits } = follow(url, { position: 12, http: { getText } });
  await expect.poll(seqs).toEqual([99]);
  // Seven waits of 50 minutes are less than 6 hours, so the ninth failure is the first that discards the position.
  expect([requests, cursors, waits.filter((ms) => ms === 3_000_000).length]).toEqual([
    9,
    [...Array.from({ length: 9 }, () => '12'), null],
    9,
  ]);
  expect(warnings).toMatchObject([{ why: 'status 403' }, { why: 'status 403' }]);
});

test('the count of empty exports restarts after each operation that the stream sends', async () => {
  // The stream refuses the position 9 times, sends an operation, and refuses the position 9 times again.
  const { url, cursors } = await directory((peer, _, nth) => {
    if (nth === 10) peer.send(operation(13));
    if (nth === 20) peer.send(operation(14));
    else peer.close(1000, nth === 10 ? 'ConsumerTooSlow' : 'OutdatedCursor');
  });
  const { seqs, warnings } = follow(url, { position: 12, http: exportOf(0) });
  await expect.poll(seqs).toEqual([13, 14]);
  expect(cursors).toEqual([...Array.from({ length: 10 }, () => '12'), ...Array.from({ length: 10 }, () => '13')]);
  expect(warnings).toEqual([]);
});

test('a position is discarded if the stream refuses it and the export has no later operation', async () => {
  const { url, cursors } = await directory((peer, cursor) => {
    if (cursor !== null) peer.close(1000, 'OutdatedCursor');
    else peer.send(operation(99));
  });
  const { asked, getText } = exportOf(12);
  const { seqs, warnings } = follow(url, { position: 12, http: { getText } });
  await expect.poll(seqs).toEqual([99]);
  expect([asked.length, cursors.length, warnings]).toMatchObject([10, 11, [{ why: 'OutdatedCursor' }]]);
});

test.each(['FutureCursor', 'OutdatedCursor'])(
  'a position that is rejected as %s is discarded with a warning, and no export is requested',
  async (name) => {
    const { url, cursors } = await directory((peer, cursor) => {
      if (cursor !== null) peer.close(1000, name);
      else peer.send(operation(3));
    });
    const { stream, operations, warnings } = follow(url, { position: 12 });
    await expect.poll(() => operations.length).toBe(1);
    expect({ cursors, position: stream.position }).toEqual({ cursors: ['12', null], position: 3 });
    expect(warnings).toMatchObject([{ why: name }]);
  },
);

test('a consumer that the directory disconnects as too slow keeps its position', async () => {
  const { url, cursors } = await directory((peer, _, nth) => {
    peer.send(operation(nth));
    if (nth === 1) peer.close(1000, 'ConsumerTooSlow');
  });
  const { operations, warnings } = follow(url, { position: 0 });
  await expect.poll(() => operations.length).toBe(2);
  expect({ cursors, warnings }).toEqual({ cursors: ['0', '1'], warnings: [] });
});

test('a message that is not an operation, or that makes the consumer throw, does not affect the following messages', async () => {
  const { url } = await directory((peer) => {
    for (const text of ['', '[', '{"type":"sequenced_op"}', '['.repeat(40), operation(1), operation(2)])
      peer.send(text);
  });
  const seen: number[] = [];
  const { stream, warnings } = follow(url, {
    onOperation({ seq }) {
      seen.push(seq);
      if (seq === 1) throw new RangeError('a bug');
    },
  });
  await expect.poll(() => seen).toEqual([1, 2]);
  expect([stream.position, warnings.length]).toEqual([2, 1]);
});

test('a position that increases implausibly does not hide later operations', async () => {
  const { url } = await directory((peer) => {
    for (const seq of [Number.MAX_SAFE_INTEGER, 5]) peer.send(operation(seq));
  });
  const { stream, seqs } = follow(url);
  await expect.poll(seqs).toEqual([Number.MAX_SAFE_INTEGER, 5]);
  expect(stream.position).toBe(5);
});

test('a message beyond the byte limit ends the connection without changing the position', async () => {
  const { url, cursors } = await directory((peer, _, nth) => {
    peer.send(operation(nth));
    if (nth === 1) peer.send('x'.repeat(70_000));
  });
  const { operations } = follow(url);
  await expect.poll(() => operations.length).toBe(2);
  expect(cursors).toEqual([null, '1']);
});

test.each(['with the handshake', 'after the first pong'])(
  'a flood of operations that begins %s is read at the maximum rate, and no operation is lost',
  async (when) => {
    const { url } = await directory((peer) => {
      const flood = () => {
        for (let seq = 1; seq <= 5_000; seq += 1) peer.send(operation(seq));
      };
      if (when === 'after the first pong') peer.once('pong', flood).ping();
      else flood();
    });
    const turn: (() => void)[] = [];
    const { seqs } = follow(url, {
      maxPerSecond: { messages: 50, bytes: 1_000_000 },
      wait: (_, signal) =>
        new Promise((resolve) => {
          turn.push(resolve);
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        }),
    });
    // All messages of one read of the socket are delivered; no further message follows in the same second.
    await expect.poll(() => turn.length).toBe(1);
    const first = seqs().length;
    expect(first).toBeGreaterThanOrEqual(50);
    expect(first).toBeLessThan(5_000);
    await expect
      .poll(
        () => {
          turn.pop()?.();
          return seqs().length;
        },
        { timeout: 20_000 },
      )
      .toBe(5_000);
    expect(seqs()).toEqual(Array.from({ length: 5_000 }, (_, i) => i + 1));
  },
);

test('a host without the stream, such as a replica, is contacted once an hour', async () => {
  const server = await directory(() => undefined);
  const { waits } = follow(new URL('/replica', server.url).href);
  await expect.poll(() => waits).toEqual([3_600_000]);
});
