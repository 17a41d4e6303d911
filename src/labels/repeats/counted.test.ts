import { expect, test } from 'vitest';
import { micros, minute } from '../../store/time.ts';
import { burstsByLabeler } from './counted.ts';

test('burstsByLabeler yields to the event loop between the labelers', async () => {
  const positions = Array.from({ length: 2_000 }, (_, i) => ({
    ...{ source: `did:web:${i}.example`, endpoint: 'repeats', value: '1.2s', acceptedAt: micros(0) },
  }));
  let ended = false;
  const found = burstsByLabeler(positions, []);
  const all = (async () => {
    const bursts = await found;
    ended = true;
    return bursts;
  })();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(ended).toBe(false);
  expect((await all).size).toBe(2_000);
});

test('repeats from before the purge of their labeler are omitted', async () => {
  const source = 'did:web:a.example';
  const positions = [{ source, endpoint: 'repeats', value: '1.2s', acceptedAt: micros(0) }];
  const purge = { source, completedAt: null, rows: 0, daysLeft: 1 };
  const after = await burstsByLabeler(positions, [{ ...purge, requestedAt: micros(2 * minute) }]);
  const before = await burstsByLabeler(positions, [{ ...purge, requestedAt: micros(minute) }]);
  expect([[...after.keys()], [...before.keys()]]).toEqual([[], [source]]);
});
