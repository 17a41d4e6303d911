import { describe, expect, test } from 'vitest';
import { StreamRate } from './stream-rate.ts';

const second = 1_000_000;

function steady(perSecond: number, seconds: number): StreamRate {
  const rate = new StreamRate();
  for (let i = 0; i < perSecond * seconds; i += 1) rate.event(second + Math.floor((i * second) / perSecond), true);
  return rate;
}

describe('how long a stream may be silent', () => {
  test('at least five seconds, however fast it is', () => {
    expect(steady(300, 30).silenceUs).toBe(5 * second);
  });

  test('twenty events at the recent rate, where it is slow', () => {
    expect(steady(2, 120).silenceUs).toBeCloseTo(10 * second, -3);
  });

  test('half a minute while the rate is not known', () => {
    expect(steady(300, 4).silenceUs).toBe(30 * second);
  });

  test('a rate known from before is believed at once', () => {
    const rate = new StreamRate();
    rate.seed(1);
    expect(rate.silenceUs).toBe(20 * second);
  });

  test('time that was not watched does not slow the rate', () => {
    const rate = steady(300, 30);
    rate.event(3600 * second, false);
    rate.event(3601 * second, true);
    expect(rate.silenceUs).toBe(5 * second);
  });

  test('five minutes at most', () => {
    const rate = new StreamRate();
    rate.seed(0.001);
    expect(rate.silenceUs).toBe(300 * second);
  });
});
