import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { expect, it, onTestFinished } from 'vitest';
import { createReadingPool } from './reading-pool.ts';

function poolInTest(waitMs: number) {
  const busy: string[] = [];
  const pool = createReadingPool({
    url: 'sqlite:/nowhere',
    readers: 1,
    maxWaiting: 4,
    waitMs,
    deadlineMs: 60_000,
    monotonic: () => performance.now(),
    telemetry: { turn: () => undefined, busy: (why) => busy.push(why), restarted: () => undefined },
  });
  onTestFinished(() => pool.stop());
  return { busy, pool };
}

it('a client that leaves while it waits is not counted as one that was sent away', async () => {
  const { busy, pool } = poolInTest(60_000);
  const release = new AbortController();
  const held = pool.run({ client: 'a' }, () => once(release.signal, 'abort'));
  const gone = new AbortController();
  const left = pool.run({ client: 'b', signal: gone.signal }, () => Promise.resolve('read'));
  expect(pool.waiting()).toBe(1);
  gone.abort();
  await expect(left).rejects.toThrow('left');
  expect({ waiting: pool.waiting(), busy }).toEqual({ waiting: 0, busy: [] });
  release.abort();
  await held;
});

it('a client that waits for too long is', async () => {
  const { busy, pool } = poolInTest(1);
  const release = new AbortController();
  const held = pool.run({ client: 'a' }, () => once(release.signal, 'abort'));
  await expect(pool.run({ client: 'b' }, () => Promise.resolve('read'))).rejects.toThrow('waited');
  expect(busy).toEqual(['waited']);
  release.abort();
  await held;
});
