import { expect, it } from 'vitest';
import { day, dayFromName, dayName, dayOf, dayStart } from './time.ts';

it('dayOf, dayStart, dayName and dayFromName count days since 1970 in UTC', () => {
  expect([dayName(0), dayName(20_000), dayFromName('2024-10-04'), dayOf(dayStart(20_000) + day - 1)]).toEqual([
    '1970-01-01',
    '2024-10-04',
    20_000,
    20_000,
  ]);
});

it('dayOf returns a negative day for an instant before 1970', () => {
  expect([dayOf(-1), dayOf(0), dayOf(-day)]).toEqual([-1, 0, -1]);
});

it.each([['2026-02-30'], ['2026-1-1'], ['today'], ['']])('dayFromName returns null for %j', (name) => {
  expect(dayFromName(name)).toBeNull();
});
