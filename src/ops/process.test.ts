import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { serveMetrics } from './process.ts';

test('metrics are served on 127.0.0.1, but not on 127.0.0.2', async () => {
  const server = await serveMetrics(0, { contentType: 'text/plain', text: () => Promise.resolve('a 1\n') });
  onTestFinished(() => server.stop());
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([200, 'a 1\n']);
  const socket = connect(server.port, '127.0.0.2');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});
