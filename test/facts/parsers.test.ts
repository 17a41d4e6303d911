import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersIn, exchange } from '../../harness/net/raw-http.ts';
import { parsePlainRequest } from '../../src/http/plain-lane.ts';
import type { ReadRequest } from '../../src/http/read-request.ts';
import { commonHeaders, json } from '../../src/http/reply.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';

/**
 * Headers of both servers. The facts API has two request parsers: a fast path for plain requests, and node:http for all
 * others. The servers in this test respond with the parsed request, so that every disagreement is visible in the bytes.
 */
const common = commonHeaders('ETag');
const understood = ({ method, target, ifNoneMatch, acceptEncoding }: ReadRequest) =>
  json(200, { method, target, ifNoneMatch, acceptEncoding }, common);

let withLane: HttpServer;
let fullParser: HttpServer;
let lanePort = 0;
let fullPort = 0;
let parsedInLane = 0;

beforeAll(async () => {
  const options = { common, clock: () => 0, failed: () => undefined };
  withLane = createHttpServer({ ...options, answer: understood });
  // Use the full parser for every request, as a server that needs the client's address does.
  fullParser = createHttpServer({ ...options, answer: understood, clientOf: () => 'client' });
  lanePort = await withLane.start({ host: '127.0.0.1', port: 0 });
  fullPort = await fullParser.start({ host: '127.0.0.1', port: 0 });
});
afterAll(() => Promise.all([withLane.stop(100), fullParser.stop(100)]));

async function lasting(port: number, pieces: readonly string[], methods?: readonly string[]): Promise<string[]> {
  return answersIn(await exchange(port, pieces), methods).map((answer) => answer.lasting);
}

const anyByte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const noise = (maxLength: number) => fc.array(anyByte, { maxLength }).map((bytes) => bytes.join(''));
const target = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/', '/v1/labels/overview', '/v1/labels/overview?a=b#c') },
  fc.constantFrom('/', '/v1/labels/overview', '/v1/labels/overview?a=b#c', '*', 'http://a/b', '//a', 'foo', '!a', ''),
  noise(6).map((tail) => `/${tail}`),
  noise(4),
);
const spaces = fc.constantFrom('', ' ', '\t', '  ', '\xa0');
const value = fc.oneof(
  fc.constantFrom(
    'W/"a"',
    '"a", "b"',
    'br',
    'gzip;q=0',
    'a',
    '',
    '0',
    '5',
    'chunked',
    'close',
    'keep-alive',
    'upgrade',
  ),
  noise(4),
);
const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'Host',
      'If-None-Match',
      'Accept-Encoding',
      'X-B',
      'If-None-Match',
      'if-none-match',
      'Accept-Encoding',
      'X-A',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('Connection', 'Content-Length', 'Transfer-Encoding', 'Upgrade', 'Expect', 'Host '),
  },
  { weight: 1, arbitrary: noise(3) },
);
const field = fc
  .tuple(name, spaces, value, spaces)
  .map(([key, before, text, after]) => `${key}:${before}${text}${after}`);
const lineEnd = fc.oneof({ weight: 30, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r', '\r\n '));
const request = fc
  .record({
    method: fc.oneof(
      { weight: 8, arbitrary: fc.constant('GET') },
      fc.constantFrom('HEAD', 'POST', 'get', 'OPTIONS', 'G'),
    ),
    target,
    version: fc.oneof(
      { weight: 8, arbitrary: fc.constant('HTTP/1.1') },
      fc.constantFrom('HTTP/1.0', 'HTTP/1.2', 'http/1.1'),
    ),
    fields: fc.array(fc.tuple(field, lineEnd), { maxLength: 5 }),
    host: fc.oneof({ weight: 6, arbitrary: fc.constant('Host: a\r\n') }, fc.constant('')),
    end: lineEnd,
  })
  .map((r) => `${r.method} ${r.target} ${r.version}\r\n${r.host}${r.fields.map((f) => f.join('')).join('')}\r\n`);

describe('the fast path and the full parser', () => {
  it('return the same bytes for any input, because the fast path accepts no input that the full parser rejects', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (sent) => {
        const plain = parsePlainRequest(Buffer.from(sent, 'latin1'));
        if (plain) parsedInLane++;
        const method = [/^\S*/.exec(sent)?.[0] ?? ''];
        const [lane, full] = await Promise.all([lasting(lanePort, [sent], method), lasting(fullPort, [sent], method)]);
        expect(lane).toEqual(full);
        if (plain) expect(lane).toHaveLength(1);
      }),
      { numRuns: 3000 },
    );
    // Require that some requests took the fast path, because otherwise the property would not test it.
    expect(parsedInLane).toBeGreaterThan(200);
  });

  it('agree on requests whose number of header fields is below, at or above the maximum', async () => {
    for (const count of [1, 98, 99, 100, 101, 150]) {
      const fields = Array.from({ length: count }, (_, index) => `X-${index}: a\r\n`).join('');
      const sent = [`GET / HTTP/1.1\r\n${fields}Host: a\r\n\r\n`];
      expect(await lasting(lanePort, sent), `${count} fields`).toEqual(await lasting(fullPort, sent));
    }
  });

  it('give the same response to a request split at any byte', async () => {
    const sent = 'GET /v1/labels/overview?x HTTP/1.1\r\nHost: a\r\nIf-None-Match: W/"a"\r\nAccept-Encoding: br\r\n\r\n';
    const whole = await lasting(lanePort, [sent]);
    expect(whole).toHaveLength(1);
    for (let at = 1; at < sent.length; at++) {
      expect(await lasting(lanePort, [sent.slice(0, at), sent.slice(at)]), `split at ${at}`).toEqual(whole);
    }
  });

  it('respond to the requests of a connection in order, once to each request, wherever the bytes are split', async () => {
    const step = fc.constantFrom(
      (n: number) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`,
      (n: number) => `HEAD /${n} HTTP/1.1\r\nHost: a\r\n\r\n`,
      (n: number) => `GET /${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /`,
      (n: number) => `POST /${n} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    const conversation = fc.array(step, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(conversation, fc.array(fc.nat(400), { maxLength: 6 }), async (steps, cuts) => {
        const requests = steps.map((write, index) => write(index));
        const stream = requests.join('');
        const bounds = [0, ...cuts.map((cut) => cut % stream.length), stream.length].sort((a, b) => a - b);
        const pieces = bounds.slice(1).map((end, index) => stream.slice(bounds[index], end));
        const methods = requests.map((text) => text.slice(0, text.indexOf(' ')));
        const inPieces = pieces.filter((piece) => piece !== '');
        for (const sent of [inPieces, requests]) {
          const answers = answersIn(await exchange(lanePort, sent), methods);
          expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 200));
          const reported = answers.map(({ body }, index) => (methods[index] === 'HEAD' ? index : targetIn(body)));
          expect(reported).toEqual(requests.map((_, index) => index));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('announce that the connection will close after a request with an upgrade, because they ignore the input that follows', async () => {
    const sent =
      'GET /0 HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n';
    const answers = answersIn(await exchange(lanePort, [sent], false));
    expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[200, 'close']]);
  });
});

function targetIn(body: string): number {
  return Number((JSON.parse(body) as { target: string }).target.slice(1));
}
