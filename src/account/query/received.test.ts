import { describe, expect, it } from 'vitest';
import type { Frontier } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { assertAskedReceived, readingTime } from './received.ts';

const now = micros(1_000_000);
const primary: Frontier = { generationId: 'g', floor: micros(0), end: micros(10), observedThrough: null, revision: 3 };
const standby: Frontier = { ...primary, replicatedThrough: micros(500) };
const explicit = (end: number) => ({ kind: 'explicit', start: micros(0), end: micros(end) }) as const;
const behind = expect.objectContaining({ code: 'behind' });

describe('readingTime', () => {
  it('returns the time of the request, or the end of the data that a standby has received if that end is earlier', () => {
    expect([readingTime(primary, now), readingTime(standby, now), readingTime(standby, micros(400))]).toEqual([
      now,
      500,
      400,
    ]);
  });
});

describe('a query on a standby', () => {
  it('is refused as behind until the standby has received all data before the end of the query, or before the current time if that end is in the future', () => {
    expect(() => assertAskedReceived(standby, explicit(500), now, null)).not.toThrow();
    expect(() => assertAskedReceived(standby, explicit(501), now, null)).toThrow(behind);
    expect(() => assertAskedReceived(standby, explicit(2_000_000), now, null)).toThrow(behind);
    expect(() => assertAskedReceived(standby, explicit(2_000_000), micros(500), null)).not.toThrow();
    expect(() => assertAskedReceived(primary, explicit(501), now, null)).not.toThrow();
  });

  it('is not refused as behind if it requests a number of days, unless it continues a list at a position that the standby has not received', () => {
    const days = { kind: 'days', days: 7 } as const;
    expect(() => assertAskedReceived(standby, days, now, null)).not.toThrow();
    expect(() => assertAskedReceived(standby, days, now, micros(500))).not.toThrow();
    expect(() => assertAskedReceived(standby, days, now, micros(501))).toThrow(behind);
  });
});
