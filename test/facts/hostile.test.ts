import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { answersIn, exchange, opened } from '../../harness/net/raw-http.ts';
import { memoryMib } from '../../harness/process/process-tree.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { errorBody } from '../../src/contract/errors.ts';

const folder = artifactFolder();
let program: Server;
let port = 0;

beforeAll(async () => {
  program = await startServer(['facts', '--port', '0', '--artifacts', folder.path]);
  port = Number(new URL(program.url).port);
});
afterAll(async () => {
  expect(await program.stop()).toBe(0);
  folder.remove();
});

const plain = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
const health = '{"status":"ok","service":"almanac-facts"}';
const host = 'Host: a\r\n';

async function stillServes(): Promise<void> {
  const [answer] = answersIn(await exchange(port, [plain]));
  expect([answer?.status, answer?.body]).toEqual([200, health]);
}

describe('an invalid request', () => {
  it.each<[string, string | Buffer]>([
    ['an unknown method', `BREW / HTTP/1.1\r\n${host}\r\n`],
    ['a method in lower case', `get / HTTP/1.1\r\n${host}\r\n`],
    ['an unknown version', `GET / HTTP/3.7\r\n${host}\r\n`],
    ['no version', `GET /\r\n${host}\r\n`],
    ['a word for a version', `GET / HTTP/one\r\n${host}\r\n`],
    ['bare line feeds', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n'],
    ['a folded field', `GET / HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`],
    ['a NUL in a field', `GET / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`],
    ['a NUL in the target', `GET /\0 HTTP/1.1\r\n${host}\r\n`],
    ['a space before a colon', `GET / HTTP/1.1\r\n${host}X : a\r\n\r\n`],
    ['a field without a colon', `GET / HTTP/1.1\r\n${host}X\r\n\r\n`],
    ['two hosts', `GET / HTTP/1.1\r\n${host}Host: b\r\n\r\n`],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    [
      'a length and chunks',
      `GET / HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `GET / HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`],
    ['a negative length', `GET / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    ['a length that is not a number', `GET / HTTP/1.1\r\n${host}Content-Length: 0x5\r\n\r\n`],
    ['an unknown transfer coding', `GET / HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n`],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS hello', Buffer.from('16030100ca010000c60303', 'hex')],
    ['binary noise', Buffer.from([0, 255, 254, 13, 10, 13, 10])],
    ['an empty target', `GET  HTTP/1.1\r\n${host}\r\n`],
    ['a relative target', `GET health HTTP/1.1\r\n${host}\r\n`],
  ])('gets a 400 response with the Error object, and closes the connection (%s)', async (_what, sent) => {
    const answers = answersIn(await exchange(port, [sent], false));
    expect(answers.map(({ status, headers, body }) => [status, headers.connection, JSON.parse(body)])).toEqual([
      [400, 'close', errorBody('bad_request')],
    ]);
    expect(answers[0]?.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    await stillServes();
  });

  it.each<[string, string, number, 'uri_too_long' | 'headers_too_large']>([
    ['a path of 100 kB', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${host}\r\n`, 414, 'uri_too_long'],
    ['a field of 100 kB', `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(100_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a flood of fields', `GET / HTTP/1.1\r\n${host}${'X: a\r\n'.repeat(200_000)}\r\n`, 431, 'headers_too_large'],
  ])('gets an error response while the peer is still sending (%s)', async (_what, sent, status, code) => {
    const [answer, ...more] = answersIn(await exchange(port, [sent], false));
    expect([answer?.status, JSON.parse(answer?.body ?? 'null'), more]).toEqual([status, errorBody(code), []]);
    // Send the request in pieces, so that the parser can no longer determine which part was too long.
    const pieces = Array.from({ length: Math.ceil(sent.length / 4_000) }, (_, n) =>
      sent.slice(n * 4_000, (n + 1) * 4_000),
    );
    const inPieces = answersIn(await exchange(port, pieces, false)).map((one) => one.status);
    expect([[414], [431]]).toContainEqual(inPieces);
    await stillServes();
  });
});

describe('an unusual but valid request', () => {
  it.each<[string, string, readonly number[]]>([
    [
      'a chunked body',
      `GET /health HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${plain}`,
      [200, 200],
    ],
    ['a body', `GET /health HTTP/1.1\r\n${host}Content-Length: 4\r\n\r\nGET ${plain}`, [200, 200]],
    ['pipelining', plain + plain + plain, [200, 200, 200]],
    ['pipelining that ends in noise', `${plain}\0\r\n\r\n`, [200, 400]],
    ['absolute form', `GET http://elsewhere/health HTTP/1.1\r\n${host}\r\n`, [200]],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${host}\r\n`, [204]],
    ['CONNECT', `CONNECT a:443 HTTP/1.1\r\n${host}\r\n`, [405]],
    ['CONNECT after a read', `${plain}CONNECT a:443 HTTP/1.1\r\n${host}\r\n`, [200, 405]],
    ['TRACE', `TRACE /health HTTP/1.1\r\n${host}\r\n`, [405]],
    ['an upgrade', `GET /health HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`, [200]],
    ['HTTP/1.0 without a host', 'GET /health HTTP/1.0\r\n\r\n', [200]],
    ['an unknown expectation', `GET /health HTTP/1.1\r\n${host}Expect: a miracle\r\n\r\n`, [200]],
    ['an empty line first', `\r\n${plain}`, [200]],
    ['half a request', 'GET /hea', [400]],
    ['nothing', '', []],
  ])('gets the responses that HTTP defines, and the server continues to serve (%s)', async (_what, sent, statuses) => {
    const answers = answersIn(await exchange(port, sent === '' ? [] : [sent]));
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    for (const { headers } of answers) expect(headers['access-control-allow-origin']).toBe('*');
    await stillServes();
  });

  it('gets the headers of GET without a body if its method is HEAD, from both parsers', async () => {
    for (const more of ['', 'X-Pad: a\r\nConnection: keep-alive, x\r\n']) {
      for (const path of ['/health', '/v1/labels/overview', '/v1/weather/metrics', '/nowhere']) {
        const sent = (method: string) => `${method} ${path} HTTP/1.1\r\n${host}${more}\r\n`;
        const [got] = answersIn(await exchange(port, [sent('GET')]));
        const [head] = answersIn(await exchange(port, [sent('HEAD')]), ['HEAD']);
        expect(head?.body).toBe('');
        expect(`${head?.lasting}${got?.body}`).toBe(got?.lasting);
      }
    }
  });
});

describe('a request whose body is invalid after its response was sent', () => {
  it.each([
    ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nXYZ\r\n'],
    ['a chunk longer than its declared length', 'Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n'],
  ])('gets only one response (%s)', async (_what, rest) => {
    const answers = answersIn(await exchange(port, [`GET /health HTTP/1.1\r\n${host}${rest}`], false));
    expect(answers.map(({ status }) => status)).toEqual([200]);
    await stillServes();
  });
});

describe('a server with many connections', () => {
  it('responds to an incomplete request with 408', async () => {
    const answers = answersIn(await exchange(port, ['GET /health HTTP/1.1\r\nHost: a'], false));
    expect(answers.map(({ status, body }) => [status, JSON.parse(body)])).toEqual([
      [408, errorBody('request_timeout')],
    ]);
  });

  it('uses bounded memory for clients that never read their responses', async () => {
    const before = memoryMib(program.child.pid, 'VmRSS');
    const pieces = Buffer.from(`GET /openapi.json HTTP/1.1\r\n${host}\r\n`);
    // Single requests go to the fast path, and several requests in one piece go to the full parser.
    const sockets = await Promise.all(Array.from({ length: 20 }, () => opened(port)));
    for (const [index, socket] of sockets.entries()) {
      socket.pause().on('error', () => undefined);
      for (let n = 0; n < 400; n++) socket.write(index % 2 ? Buffer.concat([pieces, pieces, pieces]) : pieces);
    }
    await stillServes();
    await until('the requests to be sent', () => sockets.every((socket) => socket.bytesWritten > 0));
    for (let n = 0; n < 50; n++) await stillServes();
    expect(memoryMib(program.child.pid, 'VmRSS') - before).toBeLessThan(150);
    const closed = sockets.filter((socket) => !socket.closed).map((socket) => once(socket, 'close'));
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  });
});
