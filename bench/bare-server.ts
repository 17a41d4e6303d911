/**
 * Baseline server: node:http returns a constant buffer, or a constant 304, with the headers of a fact and without any
 * other work.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const body = readFileSync(process.argv[2] ?? '');
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  ETag: 'W/"constant"',
  'Last-Modified': new Date().toUTCString(),
  'Cache-Control': 'public, max-age=60',
  Vary: 'Accept-Encoding',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Last-Modified, Cache-Control, Age, Date',
  'X-Content-Type-Options': 'nosniff',
};
const whole = { ...headers, 'Content-Length': String(body.length) };

const server = createServer((request, response) => {
  if (request.headers['if-none-match'] === undefined) response.writeHead(200, whole).end(body);
  else response.writeHead(304, headers).end();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`bare listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
