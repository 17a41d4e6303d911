import { describe, expect, test } from 'vitest';

import { percentile, variation } from '../window/window.ts';
import { hourBaseline } from './conditions.ts';

const hour = (from: number): number[] => Array.from({ length: 60 }, (_, i) => from + i);
const days = (n: number): number[][] => Array.from({ length: n }, () => hour(100));

describe('the baseline of an hour', () => {
  test('is null with fewer than seven days of history', () => {
    expect(hourBaseline(days(6))).toBeNull();
  });

  test('is thin with seven days of history, and supported with twenty', () => {
    expect(hourBaseline(days(7))).toMatchObject({ support: 'thin', days: 7 });
    expect(hourBaseline(days(19))).toMatchObject({ support: 'thin', days: 19 });
    expect(hourBaseline(days(20))).toMatchObject({ support: 'supported', days: 20 });
  });

  test('excludes a day with fewer than ten comparable minutes', () => {
    expect(hourBaseline([...days(6), hour(1).slice(0, 9)])).toBeNull();
    expect(hourBaseline([...days(6), hour(1).slice(0, 10)])).toMatchObject({ days: 7 });
  });

  test('consists of the percentiles of its minutes', () => {
    expect(hourBaseline(days(8))).toEqual({
      support: 'thin',
      days: 8,
      p05: expect.closeTo(102.7, 0),
      p25: expect.closeTo(114.5, 0),
      p50: expect.closeTo(129.5, 5),
      p75: expect.closeTo(144.5, 0),
      p95: expect.closeTo(156.3, 0),
      turbulenceP95: expect.closeTo(variation(hour(100).slice(1, 11)) ?? 0, 3),
    });
  });
});

describe('the percentile', () => {
  test('interpolates between the two nearest values', () => {
    const values = Float64Array.of(10, 20, 30, 40);
    expect([0, 0.5, 1, 0.1].map((p) => percentile(values, p))).toEqual([10, 25, 40, 13]);
  });

  test('is NaN if there are no values', () => {
    expect(percentile(new Float64Array(0), 0.5)).toBeNaN();
  });
});

describe('unevenness', () => {
  test('is the standard deviation divided by the mean, or null if the mean is zero', () => {
    expect(variation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(0.4);
    expect(variation([0, 0])).toBeNull();
  });
});
