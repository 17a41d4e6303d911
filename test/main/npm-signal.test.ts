import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgram } from '../../harness/process/program.ts';

test('SIGTERM to `npm run demo` ends the observatory within 10 s and frees its ports', async () => {
  const folder = folderInTest();
  const words = ['--silent', 'demo', '--', '--data', join(folder, 'demo'), '--port', '0', '--account-port', '0'];
  const npm = startProgram(words, { runtime: 'npm', bin: 'run' });
  onTestFinished(async () => void (await npm.stop()));
  const announced = [await npm.line(/^almanac demo listening on /), await npm.line(/^almanac account listening on /)];
  const ports = announced.map((line) => Number(/:(\d+)$/.exec(line)?.[1]));
  expect(await Promise.all(ports.map(accepts))).toEqual(ports.map(() => true));

  const signalled = performance.now();
  expect(await npm.stop()).toBe(0);
  expect(performance.now() - signalled).toBeLessThan(10_000);
  expect(await Promise.all(ports.map(accepts))).toEqual(ports.map(() => false));
});

/** Returns true if a server accepts connections at the port. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.destroy()).once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
}
