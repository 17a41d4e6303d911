import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type MetricsServer, serveMetrics } from './process.ts';

let server: MetricsServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

test('metrics are served on 127.0.0.1, but not on 127.0.0.2', async () => {
  server = await serveMetrics(0, { contentType: 'text/plain', text: () => Promise.resolve('a 1\n') });
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([200, 'a 1\n']);
  const socket = connect(server.port, '127.0.0.2');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});
