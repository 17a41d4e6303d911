import { describe, expect, test } from 'vitest';
import { StreamRate } from './standstill.ts';

const second = 1_000_000;

function steady(perSecond: number, seconds: number): StreamRate {
  const rate = new StreamRate();
  for (let i = 0; i < perSecond * seconds; i += 1) rate.event(second + Math.floor((i * second) / perSecond), true);
  return rate;
}

describe('the maximum ordinary silence of a stream', () => {
  test('is at least five seconds, no matter how high the rate is', () => {
    expect(steady(300, 30).silenceUs).toBe(5 * second);
  });

  test('is the time that twenty events take at a low recent rate', () => {
    expect(steady(2, 120).silenceUs).toBeCloseTo(10 * second, -3);
  });

  test('is half a minute while the rate is unknown', () => {
    expect(steady(300, 4).silenceUs).toBe(30 * second);
  });

  test('is computed immediately from the rate of an earlier process if that rate is known', () => {
    const rate = new StreamRate();
    rate.seed(1);
    expect(rate.silenceUs).toBe(20 * second);
  });

  test('does not grow with unobserved time', () => {
    const rate = steady(300, 30);
    rate.event(3600 * second, false);
    rate.event(3601 * second, true);
    expect(rate.silenceUs).toBe(5 * second);
  });

  test('is at most five minutes', () => {
    const rate = new StreamRate();
    rate.seed(0.001);
    expect(rate.silenceUs).toBe(300 * second);
  });
});
