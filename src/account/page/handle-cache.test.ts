import { expect, it } from 'vitest';
import type { HandleResolution } from '../../network/identity/identity.ts';
import { cacheHandles, dropOldest } from './handle-cache.ts';

const signal = new AbortController().signal;

/** Creates a cache over look-ups with a fixed result, and the handles that were looked up. */
function cached(result: HandleResolution) {
  const time = { now: 0 };
  const asked: string[] = [];
  const find = cacheHandles(
    (handle) => {
      asked.push(handle);
      return Promise.resolve(result);
    },
    () => time.now,
  );
  return { find, asked, time };
}

it('a handle is looked up once a minute, also in another letter case', async () => {
  const { find, asked, time } = cached({ kind: 'not_found' });
  const found = [await find('alice.example', signal)];
  time.now = 59_999;
  found.push(await find('Alice.Example', signal));
  expect(found).toEqual(Array(2).fill({ kind: 'not_found' }));
  expect(asked).toEqual(['alice.example']);
  time.now = 60_000;
  await find('alice.example', signal);
  await find('bob.example', signal);
  expect(asked).toEqual(['alice.example', 'alice.example', 'bob.example']);
});

it('a look-up that failed is repeated after five seconds', async () => {
  const { find, asked, time } = cached({ kind: 'failed' });
  await find('alice.example', signal);
  time.now = 4_999;
  expect(await find('alice.example', signal)).toEqual({ kind: 'failed' });
  expect(asked).toHaveLength(1);
  time.now = 5_000;
  await find('alice.example', signal);
  expect(asked).toHaveLength(2);
});

it('the result of a look-up that its client has abandoned is not cached', async () => {
  const { find, asked } = cached({ kind: 'failed' });
  await find('alice.example', AbortSignal.abort());
  await find('alice.example', signal);
  expect(asked).toEqual(['alice.example', 'alice.example']);
});

it('the cache keeps the newest 10,000 results', async () => {
  const { find, asked } = cached({ kind: 'not_found' });
  for (let n = 0; n <= 10_000; n++) await find(`user-${n}.example`, signal);
  await find('user-1.example', signal);
  expect(asked).toHaveLength(10_001);
  await find('user-0.example', signal);
  expect(asked).toHaveLength(10_002);
});

it('a result that has expired is removed with the next result, so that its handle does not stay in memory', () => {
  const entries = new Map([
    ['alice.example', { until: 60_000 }],
    ['bob.example', { until: 65_000 }],
    ['failed.example', { until: 12_000 }],
    ['carol.example', { until: 70_000 }],
  ]);
  dropOldest(entries, 59_999);
  expect([...entries.keys()]).toEqual(['alice.example', 'bob.example', 'failed.example', 'carol.example']);
  dropOldest(entries, 65_000);
  expect([...entries.keys()]).toEqual(['carol.example']);
});
