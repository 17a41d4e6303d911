import { expect, test } from 'vitest';
import { budgetOf } from './disk-budget.ts';

const gb = 1_000_000_000;
const limits = { minFreeBytes: 2 * gb, maxDailyBytes: 8 * gb, isDerived: true, windowDays: 30 };

test.each([
  ['a large disk: the most that is planned for', 1_000, 0, 8],
  ['an equal part for each day that is kept', 70, 0, 2],
  ['the same once the store has filled half of it', 37, 33, 2],
  ['a small disk: never less than the network usually needs', 10, 0, 1],
])('%s', (_, free, stored, daily) => {
  expect(budgetOf(free * gb, stored * gb, limits)).toEqual({ isLow: false, isTight: false, dailyBytes: daily * gb });
});

test('what an operator chose is not lowered', () => {
  expect(budgetOf(5 * gb, 0, { ...limits, maxDailyBytes: 3 * gb, isDerived: false }).dailyBytes).toBe(3 * gb);
});

test.each([
  [5, false, false],
  [3.9, true, false],
  [1.9, true, true],
])('with %d GB free: privileged sources only is %s, nothing at all is %s', (free, isTight, isLow) => {
  expect(budgetOf(free * gb, 0, limits)).toMatchObject({ isTight, isLow });
});
