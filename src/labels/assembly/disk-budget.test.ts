import { expect, test } from 'vitest';
import { budgetOf } from './preconditions.ts';

const gb = 1_000_000_000;
const limits = { minFreeBytes: 2 * gb, maxDailyBytes: 8 * gb, isDerived: true, windowDays: 30 };

test.each([
  ['the default maximum on a large disk', 1_000, 0, 8],
  ['an equal share of the usable space for each retained day', 70, 0, 2],
  ['unchanged when the store has filled half of the disk', 37, 33, 2],
  ['at least the minimum on a small disk', 10, 0, 1],
])('the daily budget is %s', (_, free, stored, daily) => {
  expect(budgetOf(free * gb, stored * gb, limits)).toEqual({ isLow: false, isTight: false, dailyBytes: daily * gb });
});

test('a daily budget that the operator chose is not lowered', () => {
  expect(budgetOf(5 * gb, 0, { ...limits, maxDailyBytes: 3 * gb, isDerived: false }).dailyBytes).toBe(3 * gb);
});

test.each([
  [5, false, false],
  [3.9, true, false],
  [1.9, true, true],
])('the disk budget with %d GB of free space has isTight %s and isLow %s', (free, isTight, isLow) => {
  expect(budgetOf(free * gb, 0, limits)).toMatchObject({ isTight, isLow });
});
