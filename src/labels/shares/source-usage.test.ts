import { expect, test } from 'vitest';
import { SourceUsage } from './source-usage.ts';

const none = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

test('the costs of a source are summed, and the list of sources is sorted by processor time', () => {
  const usage = new SourceUsage();
  usage.add('a', { bytesIn: 10, cpuMs: 1 });
  usage.add('a', { bytesStored: 5, rows: 2, cpuMs: 1, writes: 1 });
  usage.add('b', { cpuMs: 9, throttledMs: 7 });
  expect(usage.of('a')).toEqual({ ...none, bytesIn: 10, bytesStored: 5, rows: 2, cpuMs: 2, writes: 1 });
  expect(usage.of('c')).toEqual(none);
  expect(usage.list()).toEqual([
    { source: 'b', ...none, cpuMs: 9, throttledMs: 7 },
    { source: 'a', ...usage.of('a') },
  ]);
  expect(usage.list(1).map(({ source }) => source)).toEqual(['b']);
});

test('the source usage drops the cheapest half of the sources when the maximum number of sources is exceeded', () => {
  const usage = new SourceUsage(4);
  for (const [source, cpuMs] of [
    ['a', 4],
    ['b', 3],
    ['c', 2],
    ['d', 1],
    ['e', 5],
  ] as const)
    usage.add(source, { cpuMs });
  expect(usage.list().map(({ source }) => source)).toEqual(['e', 'a', 'b']);
});
