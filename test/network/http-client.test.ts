import { createServer as createHttpServer, IncomingMessage, type RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { createHttpClient, type HttpClient } from '../../src/network/http/http.ts';

const never = new AbortController().signal;
const limits: Parameters<HttpClient['getText']>[1] = {
  maxBytes: 100_000,
  timeoutMs: 5000,
  signal: new AbortController().signal,
};

function clientFor(options: Partial<Parameters<typeof createHttpClient>[0]> = {}): HttpClient {
  const client = createHttpClient({ policy: { allowLoopback: true }, userAgent: 'Almanac/test', ...options });
  onTestFinished(() => client.close());
  return client;
}

async function serve(listener: RequestListener) {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, listener);
  const { port, seen } = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}/`, seen };
}

/** Starts a server that answers each request with these bytes and then passes the connection to `then`. */
async function serveBytes(bytes: string | Buffer, then: (socket: Socket) => void = () => undefined) {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(bytes);
      then(socket);
    });
  });
  const { port, seen } = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}/`, seen };
}

/** Writes to a socket endlessly, as fast as the client reads. */
function flood(socket: Socket, piece: string): void {
  const more = (): void => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** Writes one byte to a socket at regular intervals, endlessly. */
function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 5);
  socket.on('close', () => clearInterval(timer));
}

async function bodyAnswer(body: string | Buffer, headers: Record<string, string> = {}) {
  const { url } = await serve((_request, response) => response.writeHead(200, headers).end(body));
  return clientFor().getJson(url, limits);
}

describe('a JSON response', () => {
  it('is returned unchanged, with the date of the response', async () => {
    const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
    const expected = { kind: 'json', status: 200, date: 784111777000 };
    expect(await bodyAnswer('{"a":[1,"é"]}', { date })).toEqual({ ...expected, value: { a: [1, 'é'] } });
    expect(await bodyAnswer(' null\n', { date })).toEqual({ ...expected, value: null });
    expect(await bodyAnswer('1', { date: 'tomorrow' })).toEqual({ ...expected, value: 1, date: null });
  });

  it.each(['', '<!doctype html><html></html>', '{"a":', '{} {}', '{}{}', "{'a':1}", 'NaN', '[1,]'])(
    'is rejected if it is malformed (%j)',
    async (body) => expect(await bodyAnswer(body)).toEqual({ kind: 'not_json' }),
  );

  it('is rejected if it is not UTF-8', async () => {
    expect(await bodyAnswer(Buffer.from('"\xff"', 'latin1'))).toEqual({ kind: 'not_json' });
    expect(await bodyAnswer(Buffer.from('"a"', 'utf16le'))).toEqual({ kind: 'not_json' });
  });

  it("is requested with the client's User-Agent and accepted encodings", async () => {
    const asked: unknown[] = [];
    const { url } = await serve(({ method, headers }, response) => {
      asked.push([method, headers.accept, headers['accept-encoding'], headers['user-agent']]);
      response.end('1');
    });
    await clientFor({ userAgent: 'almanac/1' }).getJson(url, limits);
    await clientFor().getJson(url, { ...limits, accept: 'application/did+ld+json' });
    expect(asked).toEqual([
      ['GET', 'application/json', 'gzip, deflate, br', 'almanac/1'],
      ['GET', 'application/did+ld+json', 'gzip, deflate, br', 'Almanac/test'],
    ]);
    for (const [coding, body] of [
      ['gzip', gzipSync('"x"')],
      ['GZIP', gzipSync('"x"')],
      ['deflate', deflateSync('"x"')],
      ['deflate', deflateRawSync('"x"')],
      ['br', brotliCompressSync('"x"')],
      ['identity', Buffer.from('"x"')],
    ] as const) {
      expect(await bodyAnswer(body, { 'content-encoding': coding })).toMatchObject({ kind: 'json', value: 'x' });
    }
    for (const coding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip']) {
      expect(await bodyAnswer('"x"', { 'content-encoding': coding })).toEqual({ kind: 'not_json' });
    }
    expect(await bodyAnswer(gzipSync('"x"').subarray(0, 12), { 'content-encoding': 'gzip' })).toEqual({
      kind: 'not_json',
    });
  });
});

describe('the result of an error status', () => {
  const answered = async (status: number, body: string | Buffer, headers: Record<string, string> = {}) => {
    const { url } = await serve((_request, response) => response.writeHead(status, headers).end(body));
    return clientFor({ clock: () => Date.UTC(2026, 0, 1) }).getJson(url, limits);
  };
  const status = (code: number, rest: object = {}) => ({
    kind: 'status',
    status: code,
    retryAfterMs: null,
    error: null,
    ...rest,
  });

  it('includes the XRPC error name, if there is one', async () => {
    expect(await answered(501, '{"error":"MethodNotImplemented","message":"no"}')).toEqual(
      status(501, { error: 'MethodNotImplemented' }),
    );
    const packed = gzipSync('{"error":"InvalidRequest"}');
    expect(await answered(400, packed, { 'content-encoding': 'gzip' })).toEqual(
      status(400, { error: 'InvalidRequest' }),
    );
    for (const body of ['<html>', '{}', '[]', 'null', '{"error":7}', '{"error":"a text, not a name"}']) {
      expect(await answered(500, body)).toEqual(status(500));
    }
    expect(await answered(500, JSON.stringify({ error: 'Large', message: 'x'.repeat(50_000) }))).toEqual(status(500));
    expect(await answered(204, '')).toEqual(status(204));
  });

  it('includes the delay that the peer requests', async () => {
    const waitOf = (text: string, date = 'Thu, 01 Jan 2026 00:00:00 GMT') =>
      answered(429, '', { 'retry-after': text, date });
    expect(await waitOf('30')).toEqual(status(429, { retryAfterMs: 30_000 }));
    expect(await waitOf('Thu, 01 Jan 2026 00:01:00 GMT')).toEqual(status(429, { retryAfterMs: 60_000 }));
    // The delay is relative to the peer's clock, which may differ from this machine's clock.
    expect(await waitOf('Thu, 01 Jan 2026 00:01:00 GMT', 'Thu, 01 Jan 2026 00:00:50 GMT')).toEqual(
      status(429, { retryAfterMs: 10_000 }),
    );
    expect(await waitOf('Thu, 01 Jan 2015 00:01:00 GMT')).toEqual(status(429, { retryAfterMs: 0 }));
    for (const nonsense of ['soon', '-1', '1.5', '99999999999']) expect(await waitOf(nonsense)).toEqual(status(429));
  });
});

describe('a large response', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const tooLarge = { kind: 'too_large' };

  it('is not read beyond the limit, whether or not its length is declared', async () => {
    const announced = await serveBytes(`${head}Content-Length: 999999999\r\n\r\n`, (socket) =>
      flood(socket, ' '.repeat(1000)),
    );
    expect(await clientFor().getJson(announced.url, limits)).toEqual(tooLarge);
    const piece = ' '.repeat(65_536);
    const plain = await serveBytes(`${head}\r\n`, (socket) => flood(socket, piece));
    expect(await clientFor().getJson(plain.url, limits)).toEqual(tooLarge);
    // The server sent only the bytes that fit into the system's buffers.
    expect(plain.seen[0]?.bytesWritten).toBeLessThan(20_000_000);
    const chunked = await serveBytes(`${head}Transfer-Encoding: chunked\r\n\r\n`, (socket) =>
      flood(socket, `10000\r\n${piece}\r\n`),
    );
    expect(await clientFor().getJson(chunked.url, limits)).toEqual(tooLarge);
  });

  it('is rejected if it arrives in pieces of one byte, because each piece costs memory and time', async () => {
    const tiny = await serveBytes(`${head}Transfer-Encoding: chunked\r\n\r\n`, (socket) =>
      flood(socket, '1\r\n \r\n'.repeat(10_000)),
    );
    const patient = { ...limits, maxBytes: 12 * 1024 * 1024, timeoutMs: 60_000 };
    const before = process.memoryUsage().rss;
    const begun = process.cpuUsage();
    expect(await clientFor().getJson(tiny.url, patient)).toEqual(tooLarge);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    const { user, system } = process.cpuUsage(begun);
    expect(user + system).toBeLessThan(3_000_000);
  });

  it('is rejected if it follows an endless series of informational responses', async () => {
    const informed = await serveBytes('', (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
    expect(await clientFor().getJson(informed.url, { ...limits, timeoutMs: 60_000 })).toEqual(tooLarge);
  });

  it('is rejected if its headers are large, and reported by its status if it is an error with a large body', async () => {
    const headers = await serveBytes(head, (socket) => flood(socket, `X: ${'x'.repeat(1000)}\r\n`));
    expect(await clientFor().getJson(headers.url, limits)).toEqual(tooLarge);
    const error = await serveBytes('HTTP/1.1 500 No\r\n\r\n', (socket) => flood(socket, 'x'.repeat(1000)));
    expect(await clientFor().getJson(error.url, limits)).toEqual({
      kind: 'status',
      status: 500,
      retryAfterMs: null,
      error: null,
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('is rejected before its small compressed body is completely decompressed (%s)', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(100_000_000, ' '));
    expect(bomb.length).toBeLessThan(limits.maxBytes + 10_000);
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    expect(await clientFor().getJson(url, { ...limits, maxBytes: 200_000 })).toEqual(tooLarge);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it.each([
    ['3.9 million empty arrays, 11 kB of gzip', gzipSync(`[${'[],'.repeat(3_900_000)}0]`)],
    ['300,000 empty arrays, in a body that is small after decoding', gzipSync(`[${'[],'.repeat(300_000)}0]`)],
    ['5,000 levels', gzipSync(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
  ])('is not parsed if the parsed objects would take far more memory than its bytes (%s)', async (_what, bomb) => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const before = process.memoryUsage().heapUsed;
    expect(await clientFor().getJson(url, { ...limits, maxBytes: 12_000_000 })).toEqual(tooLarge);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
  });

  it.each([
    ['white space instead of JSON', gzipSync(Buffer.alloc(1_000_000, ' ')), 'not_json', 1_000_000],
    ['a body that decodes to more than its limit', gzipSync(Buffer.alloc(3_000_000, ' ')), 'too_large', 1_048_576],
    ['a body that is cut off', gzipSync(Buffer.alloc(1_000_000, ' ')).subarray(0, 900), 'not_json', 1_048_576],
    ['JSON', gzipSync(`"${'x'.repeat(1_000_000)}"`), 'json', 1_000_002],
  ] as const)('causes a charge for its decoded bytes, even if it cannot be used (%s)', async (_, body, kind, bytes) => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    );
    let charged = 0;
    const charge = (cost: { bytes: number }) => {
      charged += cost.bytes;
    };
    expect((await clientFor().getJson(url, { ...limits, maxBytes: 1_048_576, charge })).kind).toBe(kind);
    expect(charged).toBe(bytes);
  });

  it('is not requested once its domain has used up its budget of decoded bytes, unless the source is privileged', async () => {
    const { url } = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`"${'x'.repeat(90_000)}"`)),
    );
    const client = clientFor({ decodedRate: { perSecond: 0.001, burst: 100_000 } });
    const ask = (privileged: boolean) => client.getJson(url, { ...limits, peer: { source: 'did:web:a', privileged } });
    const kinds = [];
    for (const privileged of [true, true, false, false, false, true]) kinds.push((await ask(privileged)).kind);
    expect(kinds).toEqual(['json', 'json', 'json', 'json', 'busy', 'json']);
  });

  it.each(['busy', 'aborted'] as const)('is not parsed while no memory is available for it (%s)', async (outcome) => {
    const { url } = await serve((_request, response) => response.end('{"a":[1,2,3]}'));
    const asked: number[][] = [];
    const admit = (outcome: 'taken' | 'busy' | 'aborted') => async (decoded: number, length: number) => {
      asked.push([decoded, length]);
      return outcome;
    };
    expect(await clientFor().getJson(url, { ...limits, admit: admit(outcome) })).toEqual({ kind: outcome });
    expect(await clientFor().getJson(url, { ...limits, admit: admit('taken') })).toMatchObject({ kind: 'json' });
    // The expected memory covers two bytes per character, an object, a key, an array and three numbers.
    expect(asked).toEqual([
      [2 * 13 + 6 * 128, 13],
      [2 * 13 + 6 * 128, 13],
    ]);
  });

  it('is accepted at exactly the limit, and rejected with one byte more', async () => {
    const exact = { ...limits, maxBytes: 10 };
    const { url } = await serve(({ url: path }, response) =>
      response.end('"'.padEnd(path === '/more' ? 10 : 9, 'x').concat('"')),
    );
    expect(await clientFor().getJson(url, exact)).toMatchObject({ kind: 'json' });
    expect(await clientFor().getJson(`${url}more`, exact)).toEqual(tooLarge);
  });
});

describe('the timeout of a request', () => {
  // Limits of a request. The timeout is long enough to establish the connection even on a busy machine.
  const quick = { ...limits, timeoutMs: 2_000 };
  const late = { kind: 'timeout', phase: 'answer' };

  it('applies to the whole response, however slowly it arrives', async () => {
    const silent = await serveBytes('');
    const headers = await serveBytes('HTTP/1.1 200 OK\r\nX: ', (socket) => drip(socket, 'x'));
    const body = await serveBytes('HTTP/1.1 200 OK\r\n\r\n', (socket) => drip(socket, ' '));
    const informed = await serveBytes('', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'));
    const asked = [silent, headers, body, informed].map(({ url }) => clientFor().getJson(url, quick));
    expect(await Promise.all(asked)).toEqual([late, late, late, late]);
  });

  it('also applies to name resolution and the handshake, and names the pending phase in its failure', async () => {
    const unresolved = clientFor({ resolve: () => undefined });
    const { port } = await listenForTest(createServer(() => undefined));
    const asked = [
      unresolved.getJson('https://labeler.example/', quick),
      clientFor().getJson(`https://127.0.0.1:${port}/`, quick),
    ];
    expect(await Promise.all(asked)).toEqual([
      { kind: 'timeout', phase: 'dns' },
      { kind: 'timeout', phase: 'tls' },
    ]);
  });

  it('does not delay an abort by the caller, before or during the request', async () => {
    const stop = new AbortController();
    const { url, seen } = await serve(() => stop.abort());
    const client = clientFor();
    expect(await client.getJson(url, { ...limits, signal: stop.signal })).toEqual({ kind: 'aborted' });
    expect(await client.getJson(url, { ...limits, signal: stop.signal })).toEqual({ kind: 'aborted' });
    expect(seen).toHaveLength(1);
  });
});

describe('a connection', () => {
  it('reports the reason if it cannot be established', async () => {
    const client = clientFor({
      resolve: (name, _options, done) => done(Object.assign(new Error(name), { code: 'ENOTFOUND' }), []),
    });
    expect(await client.getJson('https://labeler.example/', limits)).toEqual({ kind: 'dns', code: 'ENOTFOUND' });
    // Use a port below the range of ephemeral ports, on which no process will be listening.
    expect(await client.getJson('http://127.0.0.1:1/', limits)).toEqual({ kind: 'connect', code: 'ECONNREFUSED' });
  });

  it('names the connection and not the host name in the failure if the address was known at once', async () => {
    const client = clientFor({ resolve: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) });
    expect(await client.getJson('http://localhost:1/', limits)).toEqual({ kind: 'connect', code: 'ECONNREFUSED' });
  });

  it('fails if the response is cut off or the peer does not speak HTTP', async () => {
    const cut = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123', (socket) => socket.end());
    expect(await clientFor().getJson(cut.url, limits)).toEqual({ kind: 'connect', code: 'ECONNRESET' });
    const nothing = await serveBytes('', (socket) => socket.end());
    expect(await clientFor().getJson(nothing.url, limits)).toEqual({ kind: 'connect', code: 'ECONNRESET' });
    const other = await serveBytes('SSH-2.0-OpenSSH_9.6\r\n');
    expect(await clientFor().getJson(other.url, limits)).toMatchObject({ kind: 'connect' });
    const switched = await serveBytes('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
    expect(await clientFor().getJson(switched.url, limits)).toMatchObject({ kind: 'connect' });
  });

  it('is reused for the next request, and opened again after the peer has closed it', async () => {
    const { url, seen } = await serve((_request, response) => response.end('1'));
    const client = clientFor();
    for (let time = 0; time < 20; time += 1) await client.getJson(url, limits);
    expect(seen).toHaveLength(1);
    // Close the connection at the moment when it is reused.
    seen[0]?.destroy();
    expect(await client.getJson(url, limits)).toMatchObject({ kind: 'json' });
    expect(seen).toHaveLength(2);
  });

  it('counts against a limit per host and a total limit; requests beyond a limit wait for their turn', async () => {
    let active = 0;
    let most = 0;
    const slow: RequestListener = (_request, response) => {
      active += 1;
      most = Math.max(most, active);
      setTimeout(() => {
        active -= 1;
        response.end('1');
      }, 10);
    };
    const hosts = await Promise.all([serve(slow), serve(slow), serve(slow)]);
    const client = clientFor({ perHost: 2, total: 5 });
    const one = await Promise.all(Array.from({ length: 12 }, () => client.getJson(hosts[0]?.url ?? '', limits)));
    expect({ most, connections: hosts[0]?.seen.length, kinds: new Set(one.map(({ kind }) => kind)) }).toEqual({
      most: 2,
      connections: 2,
      kinds: new Set(['json']),
    });
    most = 0;
    await Promise.all(Array.from({ length: 30 }, (_, at) => client.getJson(hosts[at % 3]?.url ?? '', limits)));
    expect(most).toBe(5);
  });

  it('does not block connections to other hosts if its host is slow, and fails as busy if it waits too long for its turn', async () => {
    const [hung, quick] = [await serveBytes(''), await serve((_request, response) => response.end('1'))];
    const client = clientFor({ perHost: 1, total: 2, maxWaiting: 2 });
    const stop = new AbortController();
    const patient = { ...limits, signal: stop.signal };
    const first = client.getJson(hung.url, patient);
    const second = client.getJson(hung.url, { ...patient, timeoutMs: 50 });
    const third = client.getJson(hung.url, patient);
    expect(await client.getJson(hung.url, patient)).toEqual({ kind: 'busy' });
    expect(await client.getJson(quick.url, limits)).toMatchObject({ kind: 'json' });
    expect(await second).toEqual({ kind: 'busy' });
    stop.abort();
    expect([await first, await third]).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(hung.seen).toHaveLength(1);
  });

  it('requires a permit only if its body is large, and half of the permits are reserved for privileged peers', async () => {
    const body = JSON.stringify('x'.repeat(400_000));
    let held = 0;
    // Functions that send the rest of a body. The first part already exceeds the size that needs no permit.
    const rest: (() => void)[] = [];
    const large = () =>
      serve((_request, response) => {
        held += 1;
        response.writeHead(200, { 'content-length': body.length });
        response.write(body.slice(0, 300_000));
        rest.push(() => response.end(body.slice(300_000)));
      });
    const hosts = [await large(), await large()];
    const client = clientFor({ largeBodies: 2 });
    const limits = { maxBytes: 1_000_000, timeoutMs: 60_000, signal: never };
    // A response is paused when it requests its permit.
    const pauses = vi.spyOn(IncomingMessage.prototype, 'pause').mock.contexts;
    const asking = () => pauses.filter((message) => (message as IncomingMessage).statusCode === 200).length;
    const first = client.getJson(hosts[0]?.url ?? '', limits);
    await expect.poll(asking).toBe(1);
    // The deadline passes only once the response waits for its permit, however long that takes.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const second = client.getJson(hosts[1]?.url ?? '', { ...limits, timeoutMs: 300 });
    await expect.poll(asking).toBe(2);
    vi.advanceTimersByTime(300);
    expect(await second).toEqual({ kind: 'busy' });
    vi.useRealTimers();
    const small = await serve((_request, response) => response.end('1'));
    expect(await client.getJson(small.url, limits)).toMatchObject({ kind: 'json', value: 1 });
    const peer = { source: 'did:plc:seed', privileged: true };
    const privileged = client.getJson(hosts[1]?.url ?? '', { ...limits, peer });
    await expect.poll(() => held).toBe(3);
    for (const end of rest) end();
    expect([await first, await privileged].map(({ kind }) => kind)).toEqual(['json', 'json']);
  });

  it('counts against a global limit while it is idle, and is closed first if it has been idle longest', async () => {
    const hosts = await Promise.all(Array.from({ length: 4 }, () => serve((_request, response) => response.end('1'))));
    const client = clientFor({ maxIdle: 2 });
    for (const { url } of hosts) await client.getJson(url, limits);
    await vi.waitFor(() => {
      expect(hosts.map(({ seen }) => seen.map(({ destroyed }) => destroyed))).toEqual([
        [true],
        [true],
        [false],
        [false],
      ]);
    }, 30_000);
  });

  it('is closed when the client is closed, and pending requests are aborted', async () => {
    const [kept, hung] = [await serve((_request, response) => response.end('1')), await serveBytes('')];
    const client = clientFor();
    await client.getJson(kept.url, limits);
    const closed = new Promise((resolve) => kept.seen[0]?.once('close', resolve));
    const underWay = client.getJson(hung.url, limits);
    await client.close();
    await closed;
    expect([await underWay, await client.getJson(kept.url, limits)]).toEqual([
      { kind: 'aborted' },
      { kind: 'aborted' },
    ]);
  });
});
