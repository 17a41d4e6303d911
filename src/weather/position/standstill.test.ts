import { describe, expect, test } from 'vitest';
import { Standstill } from './standstill.ts';

const second = 1_000_000;
const base = 1_780_000_000 * second;

/**
 * Feeds events at the given pace for some seconds. Returns the number of seconds after which the position was
 * abandoned, or null if it was kept.
 */
function feed(position: number, { pace = 1, from = base, seconds = 60 } = {}): number | null {
  const standstill = new Standstill();
  for (let at = 0; at <= seconds; at += 0.5) {
    if (standstill.event(from + at * pace * second, position, base + at * second) > 0) return at;
  }
  return null;
}

describe('a wrong position of the stream', () => {
  test('is abandoned after 15 s of live events if it is ahead of the clock', () => {
    expect(feed(base + 59 * second)).toBe(15);
  });

  test('is abandoned after 15 s of live events whose times are later than the time of the position', () => {
    expect(feed(base - second)).toBe(15);
  });

  test('is abandoned at the second check if the first event of the first check had a false time', () => {
    const standstill = new Standstill();
    standstill.event(base + 59 * second, base + 60 * second, base);
    const given = Array.from({ length: 62 }, (_, i) =>
      standstill.event(base + (i * second) / 2, base + 60 * second, base + (i * second) / 2),
    );
    expect(given.findIndex((us) => us > 0) / 2).toBe(30);
  });
});

describe('a plausible position of the stream', () => {
  test('is kept while a host replays earlier events, faster or slower than real time', () => {
    expect(feed(base + 59 * second, { pace: 10, from: base - 3600 * second })).toBeNull();
    expect(feed(base + 59 * second, { pace: 0.3, from: base - 3600 * second })).toBeNull();
  });

  test('is kept while a host lags behind it but advances at the pace of real time', () => {
    expect(feed(base - second, { from: base - 90 * second })).toBeNull();
  });

  test('is kept if the clock reaches it within 15 s', () => {
    expect(feed(base + 15 * second, { seconds: 15 })).toBeNull();
  });

  test('is kept if an event advanced it between two checks', () => {
    const standstill = new Standstill();
    const given: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      if (at % 10 === 0) standstill.moved();
      given.push(standstill.event(base + at * second, base + 59 * second, base + at * second));
    }
    expect(given.every((us) => us === 0)).toBe(true);
  });
});
