import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { serviceFetch } from '../../src/ops/service-fetch.ts';

async function serve(answer: (response: ServerResponse, request: IncomingMessage) => void): Promise<string> {
  const server = createServer((request, response) => answer(response, request)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it.each([
  ['gzip', gzipSync('{"n":1}')],
  ['br', brotliCompressSync('{"n":1}')],
  ['identity', Buffer.from('{"n":1}')],
])('serviceFetch decodes a body with the coding %s', async (coding, body) => {
  const asked: IncomingMessage[] = [];
  const url = await serve((response, request) => {
    asked.push(request);
    response.writeHead(200, { 'Content-Encoding': coding, ETag: '"a"' }).end(body);
  });
  const response = await serviceFetch(url, { headers: { 'User-Agent': 'Almanac/test' } });
  expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([200, '"a"', '{"n":1}']);
  expect(asked[0]?.headers).toMatchObject({ 'user-agent': 'Almanac/test', 'accept-encoding': 'gzip, br' });
});

it('serviceFetch follows at most 20 redirects, and only to HTTP URLs, unless the caller refuses redirects', async () => {
  const places = new Map([
    ['/', '/there'],
    ['/endless', '/endless'],
    ['/file', 'file:///etc/hostname'],
  ]);
  let requests = 0;
  const url = await serve((response, request) => {
    requests += 1;
    const location = places.get(request.url ?? '');
    response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end('there');
  });
  expect((await serviceFetch(url, { redirect: 'manual' })).status).toBe(302);
  expect(await (await serviceFetch(url)).text()).toBe('there');
  requests = 0;
  await expect(serviceFetch(`${url}endless`)).rejects.toThrow('too many redirects');
  expect(requests).toBe(21);
  await expect(serviceFetch(`${url}file`)).rejects.toThrow('Protocol');
});

it('serviceFetch returns a response without a body', async () => {
  const url = await serve((response) => {
    response.writeHead(304).end();
  });
  expect(await (await serviceFetch(`${url}unchanged`)).text()).toBe('');
});

it.each([
  ['with', 'Connection: Upgrade\r\nUpgrade: x\r\n'],
  ['without', ''],
])('serviceFetch rejects a response that switches to another protocol (%s upgrade headers)', async (_, fields) => {
  const url = await serve((_response, { socket }) => {
    socket.end(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
  });
  await expect(serviceFetch(url)).rejects.toThrow(TypeError);
});

it('serviceFetch rejects a status that no response can have', async () => {
  const url = await serve((response) => {
    response.writeHead(999).end('x');
  });
  await expect(serviceFetch(url)).rejects.toThrow('the status 999 is not valid');
});

it('serviceFetch rejects reads of a body that breaks off, has a damaged coding, or belongs to an aborted request', async () => {
  const url = await serve((response, request) => {
    if (request.url === '/damaged') response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('no gzip');
    else response.writeHead(200, { 'Content-Length': '100' }).write('x');
    if (request.url === '/broken') setTimeout(() => request.socket.destroy(), 20);
  });
  for (const path of ['broken', 'damaged']) {
    const response = await serviceFetch(url + path);
    await expect(response.text(), path).rejects.toThrow();
  }
  const stop = new AbortController();
  const response = await serviceFetch(`${url}slow`, { signal: stop.signal });
  const text = response.text();
  stop.abort();
  await expect(text).rejects.toThrow();
  await expect(serviceFetch(url, { signal: stop.signal })).rejects.toThrow();
});

it('an unread body that breaks off does not end the process', async () => {
  const url = await serve((response, request) => {
    response.writeHead(500, { 'Content-Length': '1000000' }).write('x');
    setTimeout(() => request.socket.destroy(), 10);
  });
  expect((await serviceFetch(url)).status).toBe(500);
  await new Promise((resolve) => setTimeout(resolve, 100));
});

it('serviceFetch rejects too many informational responses, and a body in too many pieces', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_001);
  const url = await serve((response, { socket, url: path }) => {
    if (path === '/early') socket.write(early);
    else socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(5_000)}`);
    response.on('close', () => socket.destroy());
  });
  await expect(serviceFetch(`${url}early`)).rejects.toMatchObject({
    cause: { message: 'too many informational responses' },
  });
  const response = await serviceFetch(url);
  await expect(response.text()).rejects.toThrow('too many pieces');
});
