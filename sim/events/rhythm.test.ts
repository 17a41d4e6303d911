import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRhythm } from './rhythm.ts';

const noon = Date.UTC(2026, 6, 4, 12) / 1000;
const seconds = fc.integer({ min: noon - 86_400 * 400, max: noon + 86_400 * 400 });
const rates = fc.constantFrom(0.5, 1, 10, 330, 5000, 100_000);

describe('createRhythm', () => {
  it('returns non-decreasing sequence numbers with 15 digits', () => {
    fc.assert(
      fc.property(fc.nat(), rates, seconds, (seed, rate, second) => {
        const { seqAt } = createRhythm(seed, rate);
        const numbers = Array.from({ length: 20 }, (_, step) => seqAt(second + step));
        expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
        expect(String(numbers[0])).toHaveLength(15);
      }),
    );
  });

  it('finds the second in which an event occurs', () => {
    fc.assert(
      fc.property(fc.nat(), rates, seconds, fc.nat(99), (seed, rate, second, percent) => {
        const { seqAt, secondOf } = createRhythm(seed, rate);
        const [first, next] = [seqAt(second), seqAt(second + 1)];
        fc.pre(next > first);
        expect(secondOf(first + Math.floor(((next - first) * percent) / 100))).toBe(second);
      }),
    );
  });

  it('keeps the given mean rate over a day, although the hourly rates differ', () => {
    const { seqAt } = createRhythm(1, 330);
    const midnight = Date.UTC(2026, 6, 4) / 1000;
    const hours = Array.from(
      { length: 24 },
      (_, hour) => seqAt(midnight + (hour + 1) * 3600) - seqAt(midnight + hour * 3600),
    );
    const mean = (seqAt(midnight + 86_400) - seqAt(midnight)) / 86_400;
    expect(mean / 330).toBeCloseTo(1, 1);
    expect(Math.max(...hours) / Math.min(...hours)).toBeGreaterThan(1.5);
  });

  it('varies the rate from minute to minute, by less than a factor of 1.5 within an hour', () => {
    const { seqAt } = createRhythm(1, 330);
    const minutes = Array.from({ length: 60 }, (_, at) => seqAt(noon + (at + 1) * 60) - seqAt(noon + at * 60));
    expect(new Set(minutes).size).toBeGreaterThan(50);
    expect(Math.max(...minutes) / Math.min(...minutes)).toBeLessThan(1.5);
  });
});
