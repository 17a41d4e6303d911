import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { micros, minute } from '../../store/time.ts';
import { addRepeats, burstRows, burstsIn, burstsOf, type Repeats, readRepeats, writeRepeats } from './repeat-log.ts';

const first = 29_600_000;
const all = { start: micros(0), end: micros((first + 100_000) * minute) };
const at = (minuteOfTest: number, count: number): Repeats => ({ minute: first + minuteOfTest, count });

describe('a burst', () => {
  test(`consists of at least ${burstRows} repeats within 60 minutes, and fewer repeats are new events`, () => {
    expect(burstsIn(burstsOf([at(0, burstRows - 1)]), all)).toBe(0);
    expect(burstsIn(burstsOf([at(0, burstRows)]), all)).toBe(burstRows);
    expect(burstsIn(burstsOf([at(0, 60), at(59, 40)]), all)).toBe(100);
    expect(burstsIn(burstsOf([at(0, 60), at(60, 40)]), all)).toBe(0);
  });

  test('includes every repeat that is within an hour of enough other repeats, and excludes all other repeats', () => {
    expect(burstsIn(burstsOf([at(0, 5), at(30, 60), at(61, 60), at(200, 7)]), all)).toBe(120);
    expect(burstsIn(burstsOf([at(2, 5), at(30, 60), at(61, 60), at(200, 7)]), all)).toBe(125);
  });

  test('reduces the count of an interval by the repeats of the minutes that begin in the interval', () => {
    const burst = [at(0, 100), at(1, 200), at(2, 400)];
    const interval = { start: micros((first + 1) * minute), end: micros((first + 2) * minute) };
    expect(burstsIn(burstsOf(burst), interval)).toBe(200);
    expect(burstsIn(burstsOf(burst), { ...interval, start: micros(interval.start + 1) })).toBe(0);
  });
});

test('bursts match their definition for any sequence of minutes', () => {
  const naive = (repeats: readonly Repeats[]): number => {
    const near = (one: Repeats) => repeats.filter(({ minute: m }) => m > one.minute - 60 && m <= one.minute);
    const full = repeats.map(near).filter((some) => some.reduce((sum, { count }) => sum + count, 0) >= burstRows);
    return [...new Set(full.flat())].reduce((sum, { count }) => sum + count, 0);
  };
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 60 });
  fc.assert(
    fc.property(
      minutes,
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 60, maxLength: 60 }),
      (some, counts) => {
        const repeats = some.sort((a, b) => a - b).map((one, i) => at(one, counts[i] ?? 1));
        expect(burstsIn(burstsOf(repeats), all)).toBe(naive(repeats));
      },
    ),
  );
});

test('bursts are found in one pass over the minutes', () => {
  let reads = 0;
  const counted = (one: Repeats): Repeats => ({
    count: one.count,
    get minute() {
      reads += 1;
      return one.minute;
    },
  });
  const repeats = Array.from({ length: 1_000 }, (_, i) => counted(at(i, 2)));
  expect(burstsIn(burstsOf(repeats), all)).toBe(2_000);
  expect(reads).toBeLessThan(20_000);
});

test('repeats of one minute are added together, and repeats are dropped after 31 days', () => {
  expect(addRepeats([at(0, 3), at(2, 1)], at(2, 5))).toEqual([at(0, 3), at(2, 6)]);
  expect(addRepeats([at(0, 3), at(2, 1)], at(31 * 1440 + 1, 5))).toEqual([at(2, 1), at(31 * 1440 + 1, 5)]);
});

test('formatted repeats are parsed back unchanged, and invalid entries are skipped', () => {
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 40_000 }), { maxLength: 200 });
  fc.assert(
    fc.property(minutes, fc.integer({ min: 1, max: 1_000_000 }), (some, count) => {
      const repeats = some.sort((a, b) => a - b).map((one, i) => at(one, count + i));
      expect(readRepeats(writeRepeats(repeats, 100_000))).toEqual(repeats);
    }),
  );
  expect(readRepeats('zz z. .1 1.1 -1.2 1.2')).toEqual([
    { minute: 1, count: 1 },
    { minute: 2, count: 2 },
  ]);
});

test('repeats that exceed the maximum length of the text are merged by hour, and then the oldest hours are omitted', () => {
  const week = Array.from({ length: 7 * 1440 }, (_, i) => at(i, 2));
  const text = writeRepeats(week, 4_000);
  expect(text.length).toBeLessThanOrEqual(4_000);
  expect(burstsIn(burstsOf(readRepeats(text)), all)).toBe(burstsIn(burstsOf(week), all));
  const short = readRepeats(writeRepeats(week, 200));
  expect(short.at(-1)).toEqual({ minute: first + 7 * 1440 - 20, count: 40 });
  expect(short.length).toBeGreaterThan(10);
});
