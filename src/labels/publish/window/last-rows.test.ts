import { expect, test } from 'vitest';
import { hour, type Interval, micros } from '../../../store/time.ts';
import { LastRows } from './last-rows.ts';

const maxFurtherHours = 100;

const labeler = 'did:plc:a';
const first = 480_000;

/** Creates a store in which one labeler has rows in the first minute of each hour, and counts the reads. */
function storeOf(hours: () => readonly number[], countedHour: number) {
  const reads: number[] = [];
  let listed = 0;
  const rows = new LastRows({
    countsOverTime: async ({ start }: Interval) => {
      reads.push(start / hour);
      return [{ labeler, start, applied: 120, removed: 0 }];
    },
  });
  const find = (uncachedFrom: number, from = first) => {
    const all = hours().toReversed();
    const repeats = all
      .filter((at) => at !== countedHour)
      .map((at) => ({ minute: at * 60, count: 120 }))
      .reverse();
    const newest = all[0] ?? 0;
    const row = {
      labeler,
      newest,
      all: () => {
        listed += 1;
        return all;
      },
    };
    return rows.find({
      ...{ labelers: [row], open: [], bursts: new Map([[labeler, repeats]]), uncachedFrom },
      ...{ start: micros(from * hour), floor: micros(first * hour) },
    });
  };
  return { find, reads, listed: () => listed };
}

test('a search through hours of repeats is bounded in each call, continues in the next call, and is then cached', async () => {
  const hours = Array.from({ length: 600 }, (_, i) => first + i);
  const { find, reads, listed } = storeOf(() => hours, first + 2);
  let calls = 0;
  for (let last: number | undefined; last === undefined; calls += 1) {
    const before = reads.length;
    last = (await find(first + 599)).get(labeler);
    expect(reads.length - before).toBeLessThanOrEqual(maxFurtherHours + 1);
    expect(calls).toBeLessThan(10);
    if (last !== undefined) expect(last).toBe((first + 2) * hour);
  }
  expect(listed()).toBe(calls);
  // Only the newest hour, to which bursts may be added, is read several times.
  expect(new Set(reads).size).toBe(598);
  expect(reads).toHaveLength(597 + calls);
  // Each further hour of repeats costs one read.
  for (let more = 1; more <= 5; more += 1) {
    const before = reads.length;
    hours.push(first + 599 + more);
    expect((await find(first + 599 + more)).get(labeler)).toBe((first + 2) * hour);
    expect(reads.length - before).toBeLessThanOrEqual(2);
  }
});

test('a cached last row is not returned after it leaves the window', async () => {
  const hours = [first, first + 5];
  const { find } = storeOf(() => hours, first);
  expect((await find(first + 6)).get(labeler)).toBe(first * hour);
  expect((await find(first + 6, first + 1)).get(labeler)).toBeUndefined();
});
