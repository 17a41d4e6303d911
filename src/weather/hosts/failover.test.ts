import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Failover } from '../window/store-schema.ts';
import { dayUs, windowUs } from '../window/window.ts';

import { decideHost, failoverCaveat, type healthOf } from './publication.ts';

type Health = ReturnType<typeof healthOf>;

const nowUs = Date.parse('2026-11-20T12:00:00Z') * 1000;
const minutes = (count: number): number => count * windowUs;
const well = (forMinutes = 1440): Health => ({ trouble: null, wellForUs: minutes(forMinutes) });
const ill = (forMinutes: number, reason: 'unobserved' | 'silent' = 'unobserved'): Health => ({
  trouble: { reason, sinceUs: nowUs - minutes(forMinutes) },
  wellForUs: 0,
});
const failover: Failover = {
  sinceUs: nowUs - dayUs,
  trouble: { reason: 'unobserved', sinceUs: nowUs - dayUs - 1 },
  unwellUs: nowUs - minutes(60),
};

function decide(first: Health, second: Health, current: Failover | null = null, startedUs = 0): Failover | null {
  return decideHost({ current, first, second, nowUs, startedUs });
}

describe('the first of two hosts', () => {
  test.each(['unobserved', 'silent'] as const)('is replaced after 15 minutes in which it was %s', (reason) => {
    expect(decide(ill(14.99, reason), well())).toBeNull();
    expect(decide(ill(15, reason), well())).toMatchObject({ sinceUs: nowUs, trouble: { reason }, unwellUs: nowUs });
  });

  test('is kept unless the second host has been healthy for 15 minutes', () => {
    expect(decide(ill(100), ill(100))).toBeNull();
    expect(decide(ill(100), well(14.99))).toBeNull();
    expect(decide(ill(100), well(15))).not.toBeNull();
  });

  test('is kept for 15 minutes after a start, even if it was not observed before the start', () => {
    expect(decide(ill(300), well(), null, nowUs - minutes(14))).toBeNull();
    expect(decide(ill(300), well(), null, nowUs - minutes(15))).not.toBeNull();
  });

  test('is published again after a day without trouble', () => {
    expect(decide(well(), well(), { ...failover, unwellUs: nowUs - dayUs + 1 })).not.toBeNull();
    expect(decide(well(), well(), { ...failover, unwellUs: nowUs - dayUs })).toBeNull();
    // Each new failure restarts the day without trouble that is required before the first host is published again.
    expect(decide(ill(6), well(), failover)).toMatchObject({ sinceUs: failover.sinceUs, unwellUs: nowUs });
  });

  test('is published again if it has been healthy for an hour and the second host has been in trouble for 15 minutes', () => {
    expect(decide(well(59), ill(15), failover)).not.toBeNull();
    expect(decide(well(60), ill(14), failover)).not.toBeNull();
    expect(decide(well(60), ill(15), failover)).toBeNull();
  });
});

test('two hosts that fail repeatedly swap places at most twice an hour', () => {
  const step = fc.record({ first: fc.boolean(), second: fc.boolean(), forMinutes: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      const since = { first: nowUs, second: nowUs };
      const is = { first: true, second: true };
      const changes: number[] = [];
      let current: Failover | null = null;
      let at = nowUs;
      const health = (host: 'first' | 'second'): Health =>
        is[host]
          ? { trouble: null, wellForUs: at - since[host] }
          : { trouble: { reason: 'unobserved', sinceUs: since[host] }, wellForUs: 0 };
      for (const { forMinutes, ...now } of steps) {
        for (const host of ['first', 'second'] as const) if (now[host] !== is[host]) since[host] = at;
        Object.assign(is, now);
        for (let minute = 0; minute < forMinutes; minute += 1) {
          at += windowUs;
          const input = { first: health('first'), second: health('second'), nowUs: at, startedUs: nowUs };
          const next = decideHost({ ...input, current });
          if ((next === null) !== (current === null)) changes.push(at);
          current = next;
        }
      }
      for (const [i, change] of changes.entries()) {
        expect(
          changes.filter((other) => other >= change && other < change + minutes(60)).length,
          `${i}`,
        ).toBeLessThanOrEqual(2);
      }
    }),
  );
});

test('the failover caveat gives the start of the failover and its reason', () => {
  const caveat = failoverCaveat({ ...failover, trouble: { reason: 'silent', sinceUs: nowUs } });
  expect(caveat).toContain('published since 2026-11-19T12:00:00.000Z');
  expect(caveat).toContain(
    'was silent in collections that make up much of the interactions from 2026-11-20T12:00:00.000Z onwards',
  );
});

test('the failover caveat names both conditions under which the first host is published again', () => {
  // These are the two conditions of `decideHost`.
  const ended = [decide(well(), well(), { ...failover, unwellUs: nowUs - dayUs }), decide(well(60), ill(15), failover)];
  expect(ended).toEqual([null, null]);
  expect(failoverCaveat(failover)).toContain(
    'The first one is published again after a day without trouble, or after an hour without trouble if the second has been in trouble for 15 minutes. ',
  );
});
