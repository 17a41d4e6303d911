import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { answersIn, exchange, opened } from '../../harness/net/raw-http.ts';
import { until } from '../../harness/process/until.ts';
import type { CutReason } from '../../src/http/connections/connection-table.ts';
import { withBody } from '../../src/http/reply.ts';
import { createHttpServer, type HttpServerOptions } from '../../src/http/server.ts';

/** Tests admission control in a server with delayed responses. */

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const told = (text: string) => withBody(200, 'text/plain', Buffer.from(text), []);

async function serving(more: Partial<HttpServerOptions> = {}) {
  const cuts: CutReason[] = [];
  const targets: string[] = [];
  const options = {
    common: [],
    clock: Date.now,
    failed: () => undefined,
    onCut: (reason: CutReason) => cuts.push(reason),
    async answerLater({ target }: { target: string }) {
      targets.push(target);
      await new Promise((resolve) => setImmediate(resolve));
      return told(target);
    },
    unsent: { perClient: 1e6, total: 1e7 },
    overloaded: told('busy'),
    ...more,
  } as HttpServerOptions;
  const server = createHttpServer(options);
  const port = await server.start({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.stop(0));
  return { cuts, targets, port, server };
}

/** Returns a function that reports the maximum number of concurrent requests without a complete response. */
function parsedAtOnce(): () => number {
  let [open, max] = [0, 0];
  const channel = 'http.server.request.start';
  const onRequest = (message: unknown): void => {
    open += 1;
    max = Math.max(max, open);
    (message as { readonly response: ServerResponse }).response.once('close', () => {
      open -= 1;
    });
  };
  subscribe(channel, onRequest);
  onTestFinished(() => void unsubscribe(channel, onRequest));
  return () => max;
}

it('admission control parses a pipelined request only after the response to the previous one', async () => {
  const { port } = await serving();
  const maxParsed = parsedAtOnce();
  const paths = Array.from({ length: 50 }, (_, n) => `/${n}`);
  const last = get('/last', 'Connection: close\r\n');
  const answers = answersIn(await exchange(port, [paths.map((path) => get(path)).join('') + last], false));
  expect(answers.map(({ body }) => body)).toEqual([...paths, '/last']);
  expect(maxParsed()).toBe(1);
});

it('admission control accepts a request that arrives byte by byte, and a request with an unexpected body', async () => {
  const { port } = await serving();
  const post = 'POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nGET /\r\n\r\n\n\n\n';
  const pieces = [...get('/first'), post, get('/last', 'Connection: close\r\n')];
  const answers = answersIn(await exchange(port, pieces, false));
  expect(answers.map(({ body }) => body)).toEqual(['/first', '/post', '/last']);
});

it('admission control never parses the request of a client that disconnects before its turn', async () => {
  const { port, targets, server } = await serving();
  for (let n = 0; n < 20; n++) {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.write(get('/left'));
    socket.destroy();
  }
  answersIn(await exchange(port, [get('/stayed', 'Connection: close\r\n')], false));
  await until('every connection has ended', () => server.connections() === 0);
  expect(targets).toEqual(['/stayed']);
});

it('when the table is full, admission control closes a connection of the client that has the most connections, even behind a trusted proxy', async () => {
  const { port, cuts } = await serving({ proxies: 1, connections: { total: 4 } });
  const flood = await Promise.all([1, 2, 3, 4].map(() => opened(port)));
  for (const socket of flood) {
    socket.on('error', () => undefined);
    socket.write(get('/flood', 'X-Forwarded-For: 192.0.2.1\r\n'));
    await once(socket, 'data');
  }
  const honest = get('/honest', 'X-Forwarded-For: 192.0.2.2\r\nConnection: close\r\n');
  expect(answersIn(await exchange(port, [honest], false)).map(({ body }) => body)).toEqual(['/honest']);
  expect(cuts).toEqual(['full']);
  for (const socket of flood) socket.destroy();
});

it('even if unsent responses use up the memory, the server sends responses that are no larger than its overload response', async () => {
  const { port } = await serving({ unsent: { perClient: 0, total: 0 } });
  const answers = answersIn(await exchange(port, [get('/a') + get('/abcd', 'Connection: close\r\n')], false));
  expect(answers.map(({ body }) => body)).toEqual(['/a', 'busy']);
});

it('admission control sends a request timeout response to a silent connection', async () => {
  const { port } = await serving();
  expect(answersIn(await exchange(port, [], false)).map(({ status }) => status)).toEqual([408]);
});

it('admission control closes connections without a request when the server stops', async () => {
  const { port, server } = await serving();
  const idle = await opened(port);
  const used = await opened(port);
  used.write(get('/used'));
  await once(used, 'data');
  await until('both connections are open', () => server.connections() === 2);
  const ended = Promise.all([idle, used].map((socket) => once(socket.resume(), 'end')));
  await server.stop(60_000);
  await ended;
});
