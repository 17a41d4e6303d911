import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { firstSignal, serveMetrics } from './process.ts';

test('signals within a second of the first are copies of it, and a later one is left to the system, which ends the process', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const signals = new EventEmitter();
  const asked = firstSignal(signals);
  // `emit` returns false if nothing listens. The system then ends the process.
  const heard = [signals.emit('SIGINT'), signals.emit('SIGINT'), signals.emit('SIGTERM')];
  await asked;
  vi.advanceTimersByTime(999);
  heard.push(signals.emit('SIGINT'), signals.emit('SIGTERM'));
  vi.advanceTimersByTime(1);
  heard.push(signals.emit('SIGINT'), signals.emit('SIGTERM'));
  expect(heard).toEqual([true, true, true, true, true, false, false]);
});

test('metrics are served on 127.0.0.1, but not on 127.0.0.2', async () => {
  const server = await serveMetrics(0, { contentType: 'text/plain', text: () => Promise.resolve('a 1\n') });
  onTestFinished(() => server.stop());
  const answer = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([200, 'a 1\n']);
  const socket = connect(server.port, '127.0.0.2');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});
