import { expect, it } from 'vitest';
import { day, dayFromName, dayName, dayOf, dayStart } from './time.ts';

it("a day's name is parsed to the day that it was formatted from", () => {
  expect([dayName(0), dayName(20_000), dayFromName('2024-10-04'), dayOf(dayStart(20_000) + day - 1)]).toEqual([
    '1970-01-01',
    '2024-10-04',
    20_000,
    20_000,
  ]);
});

it('an instant before 1970 belongs to the previous day', () => {
  expect([dayOf(-1), dayOf(0), dayOf(-day)]).toEqual([-1, 0, -1]);
});

it.each([['2026-02-30'], ['2026-1-1'], ['today'], ['']])("the text %j is not parsed as a day's name", (name) => {
  expect(dayFromName(name)).toBeNull();
});
