import { beforeAll, describe, expect, test } from 'vitest';
import {
  lookAt,
  makeTraffic,
  readTraffic,
  type Traffic,
  watch,
  withoutCollection,
} from '../../harness/weather/weather-traffic.ts';
import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { windowUs } from '../../src/weather/window/window.ts';

const day = 1440;

describe('thirty days of traffic with storms, lulls, bulk operations, pauses and interruptions', () => {
  test('contain no false silence, with or without a baseline', () => {
    const { found, minutes } = watch(makeTraffic(7, 30));
    // Require traffic with long pauses, which would cause false alarms if every pause counted as a silence.
    const pauses = collectionNames.map((_, place) => longestPause(minutes.map(({ counts }) => counts[place] ?? 0)));
    expect(pauses.filter((windows) => windows > 60).length).toBeGreaterThan(1);
    expect([...found.keys()]).toEqual([]);
  });
});

describe('a collection that the host stops sending for ten hours', () => {
  let traffic: Traffic;
  beforeAll(() => {
    traffic = makeTraffic(3, 16);
  });

  test.each([
    ['at night', 14 * day + 120],
    ['by day', 14 * day + 840],
  ])('is reported within ten minutes if it is frequent, and before the ten hours end if it is rare (%s)', (_, from) => {
    const late: [CollectionName, number][] = [];
    for (const collection of collectionNames) {
      const dropped = readTraffic(withoutCollection(traffic, collection, from, from + 600));
      const p05 = dropped.usual.hour(dropped.minutes[from]?.startUs ?? 0).p05[collectionNames.indexOf(collection)] ?? 0;
      const most = p05 >= 10 ? 8 : 590;
      const atUs = dropped.minutes[from + most]?.startUs ?? 0;
      const found = lookAt(dropped, from + most).find((one) => one.collection === collection && one.to === atUs);
      // The last event is in the minute before, or several minutes earlier for a rare collection.
      const begun = (dropped.minutes[from]?.startUs ?? 0) - (found?.from ?? 0);
      if (!found || begun < 0 || begun > (p05 > 0 ? 0 : 180 * windowUs)) late.push([collection, p05]);
    }
    expect(late).toEqual([]);
  });
});

function longestPause(counts: readonly number[]): number {
  let longest = 0;
  let pause = 0;
  for (const count of counts) {
    pause = count === 0 ? pause + 1 : 0;
    longest = Math.max(longest, pause);
  }
  return longest;
}
