import { describe, expect, it, onTestFinished } from 'vitest';
import { answersIn, exchange, opened } from '../../harness/net/raw-http.ts';
import { until } from '../../harness/process/until.ts';
import type { CutReason } from '../../src/http/connections/connection-table.ts';
import { withBody } from '../../src/http/reply.ts';
import { type Answering, createHttpServer, type HttpServerOptions } from '../../src/http/server.ts';

/** Tests the limits of the HTTP server that both surfaces use, with small values. */

const common = ['X-Common', 'yes'];
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

async function serving(answering: Answering, more: Partial<HttpServerOptions> = {}) {
  const cuts: CutReason[] = [];
  const failures: unknown[] = [];
  const server = createHttpServer({
    common,
    clock: Date.now,
    failed: (error) => failures.push(error),
    onCut: (reason) => cuts.push(reason),
    ...more,
    ...answering,
  } as HttpServerOptions);
  const port = await server.start({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.stop(0));
  return { cuts, failures, port, server };
}

const large = Buffer.alloc(32 * 1024 * 1024, 'x');
const textReply = (target: string) => withBody(200, 'text/plain', Buffer.from(target), common);
const unsent = { perClient: 64 * 1024 * 1024, total: 256 * 1024 * 1024 };
const overloaded = withBody(503, 'text/plain', Buffer.from('busy'), [...common, 'Retry-After', '5']);
const now: Answering = { answer: ({ target }) => textReply(target) };
const later: Answering = {
  answerLater: async ({ target }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return target === '/large' ? withBody(200, 'text/plain', large, common) : textReply(target);
  },
  unsent,
  overloaded,
};

describe.each([
  ['with immediate responses', now],
  ['with delayed responses', later],
])('a server %s', (_what, answering) => {
  it.each([
    ['another request', get('/second')],
    ['noise', '\0\r\n\r\n'],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['half a request', 'GET /sec'],
    ['an upgrade', get('/second', 'Connection: upgrade\r\nUpgrade: x\r\n')],
  ])('ignores everything after a request with Connection: close (%s)', async (_behind, bytes) => {
    const { port } = await serving(answering);
    const answers = answersIn(await exchange(port, [get('/first', 'Connection: close\r\n') + bytes], false));
    expect(answers.map(({ status, body }) => [status, body])).toEqual([[200, '/first']]);
  });

  it.each([
    ['HTTP/1.0', `GET /first HTTP/1.0\r\n\r\n${get('/second')}`, [200]],
    ['a request without a host', `GET /first HTTP/1.1\r\n\r\n${get('/second')}`, [400]],
  ])('ignores every byte after a request that ends the connection (%s)', async (_what, bytes, statuses) => {
    const { port } = await serving(answering);
    expect(answersIn(await exchange(port, [bytes], false)).map(({ status }) => status)).toEqual(statuses);
  });

  it('responds to pipelined requests in order, and then reports the invalid input after the last request', async () => {
    const { port } = await serving(answering);
    const answers = answersIn(await exchange(port, [`${get('/1')}${get('/2')}${get('/3')}NOISE\r\n\r\n`], false));
    expect(answers.map(({ status, body }) => (status === 200 ? body : status))).toEqual(['/1', '/2', '/3', 400]);
  });

  it('closes a connection that pipelines too many requests', async () => {
    const { port, cuts } = await serving(answering);
    const socket = await opened(port);
    socket.on('error', () => undefined).resume();
    socket.write(get('/x').repeat(1_000));
    await until('the connection is closed', () => cuts.length > 0);
    expect(cuts).toEqual(['pipelined']);
    socket.destroy();
  });

  it('limits the connections of a client', async () => {
    const { port, cuts, server } = await serving(answering, { connections: { perClient: 2 } });
    const sockets = await Promise.all([1, 2, 3].map(() => opened(port)));
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    await until('one of the three connections is closed', () => cuts.length === 1);
    expect({ cuts, size: server.connections() }).toEqual({ cuts: ['client_full'], size: 2 });
    for (const socket of sockets) socket.destroy();
  });
});

describe('a client that does not read its response', () => {
  it('is disconnected, and its reserved memory is released', async () => {
    // The limit on unsent bytes of a client allows one large response at a time, so the second one requires that the
    // memory of the first was released.
    const bounds = { ...later, unsent: { perClient: 40 * 1024 * 1024, total: 256 * 1024 * 1024 } } as Answering;
    // The clock stands still for the client that reads, however slowly the machine sends.
    let nowMs = 0;
    const { port, cuts, failures } = await serving(bounds, { monotonic: () => nowMs });
    const socket = await opened(port);
    socket.on('error', () => undefined).pause();
    socket.write(get('/large'));
    await until('the connection is closed', () => {
      nowMs += 60_000;
      return cuts.length > 0;
    });
    expect({ cuts, failures }).toEqual({ cuts: ['stalled'], failures: [] });
    const [again] = answersIn(await exchange(port, [get('/large', 'Connection: close\r\n')], false));
    expect(again).toMatchObject({ status: 200 });
    socket.destroy();
  });

  it('gets no response beyond its share of the memory, while other clients get responses', async () => {
    const clientOf: HttpServerOptions['clientOf'] = ({ headers }) => String(headers['x-client']);
    const bounds = { unsent: { perClient: 40 * 1024 * 1024, total: 256 * 1024 * 1024 } };
    // The clock stands still, so that the idle client keeps its share until it disconnects.
    const { port } = await serving({ ...later, ...bounds } as Answering, { clientOf, monotonic: () => 0 });
    const idle = await opened(port);
    idle.on('error', () => undefined).pause();
    idle.write(get('/large', 'X-Client: 192.0.2.1\r\n'));
    const statusOf = async (client: string): Promise<number | undefined> => {
      const bytes = get('/large', `X-Client: ${client}\r\nConnection: close\r\n`);
      const [answer] = answersIn(await exchange(port, [bytes], false));
      if (answer?.status === 503) expect(answer.headers['retry-after']).toBe('5');
      return answer?.status;
    };
    await until('the client is refused', async () => (await statusOf('192.0.2.1')) === 503);
    expect(await statusOf('192.0.2.2')).toBe(200);
    idle.destroy();
    await until('the client is answered again', async () => (await statusOf('192.0.2.1')) === 200);
  });

  it('loses a download that it reads too slowly once its memory is needed for another network', async () => {
    const clientOf: HttpServerOptions['clientOf'] = ({ headers }) => String(headers['x-client']);
    let nowMs = 0;
    async function* endless(reserve: (bytes: number) => boolean): AsyncGenerator<Uint8Array> {
      while (reserve(30)) yield large;
      throw new Error('the download got no more memory');
    }
    const answering: Answering = {
      answerLater: async ({ target, reserve = () => false }) => {
        if (!reserve(30)) return overloaded;
        if (target !== '/download') return textReply(target);
        return { status: 200, headers: [], stream: endless(reserve) };
      },
      unsent: { perClient: 60, total: 60 },
      overloaded,
    };
    const { port, cuts, failures } = await serving(answering, { clientOf, monotonic: () => nowMs });
    const slow = await Promise.all([opened(port), opened(port)]);
    for (const socket of slow) {
      socket.on('error', () => undefined).pause();
      socket.write(get('/download', 'X-Client: 192.0.2.1\r\n'));
    }
    const statusOf = async (): Promise<number | undefined> => {
      const bytes = get('/other', 'X-Client: 198.51.100.1\r\nConnection: close\r\n');
      return answersIn(await exchange(port, [bytes], false))[0]?.status;
    };
    await until('the downloads hold all memory', async () => (await statusOf()) === 503);
    expect(cuts).toEqual([]);
    nowMs = 2_000;
    expect(await statusOf()).toBe(200);
    expect({ cuts, failures }).toEqual({ cuts: ['unsent'], failures: [] });
    for (const socket of slow) socket.destroy();
  });

  it('does not keep the server from stopping', async () => {
    const { port, server, failures } = await serving(later);
    const socket = await opened(port);
    socket.on('error', () => undefined).pause();
    socket.write(get('/large'));
    await until('the connection is open', () => server.connections() === 1);
    await server.stop(50);
    expect(failures).toEqual([]);
    socket.destroy();
  });
});
