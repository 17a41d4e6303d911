import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  coverageTolerance,
  departureGap,
  silenceOf,
  silentGaps,
  uncovered,
  unobservedEnd,
  unobservedGaps,
} from './coverage-rule.ts';
import type { StoredGap } from './port.ts';
import type { RosterRow } from './roster.ts';
import { type Interval, micros } from './time.ts';

const now = micros(1_795_000_000_000_000);
const ago = (microseconds: number) => micros(now - microseconds);

describe('the gap of silence', () => {
  it('begins at the last accepted page once the tolerance is exceeded', () => {
    const frontier = (age: number) => ({ observedThrough: ago(age), floor: ago(10 * coverageTolerance) });
    expect(silenceOf(frontier(coverageTolerance), now)).toBe(null);
    expect(silenceOf(frontier(coverageTolerance + 1), now)).toEqual({ start: ago(coverageTolerance + 1), end: now });
  });

  it('begins at the floor if no page was ever accepted', () => {
    const floor = ago(2 * coverageTolerance);
    expect(silenceOf({ observedThrough: null, floor }, now)).toEqual({ start: floor, end: now });
  });

  it('excludes interruptions of the instrument, but not the gaps of individual labelers', () => {
    const frontier = { observedThrough: ago(2 * coverageTolerance), floor: ago(9 * coverageTolerance) };
    const own: StoredGap = { source: null, start: ago(coverageTolerance), end: now, reason: 'maintenance' };
    const other: StoredGap = { ...own, source: 'did:plc:a', start: frontier.observedThrough };
    expect(silentGaps(frontier, now, [own, other])).toEqual([
      { source: null, start: frontier.observedThrough, end: own.start, reason: 'source_unavailable' },
    ]);
  });
});

describe('the unobserved end of an interval', () => {
  const frontier = { observedThrough: ago(100), floor: ago(9 * coverageTolerance) };
  const to = (start: number, end = 0): Interval => ({ start: ago(start), end: ago(end) });

  it.each([
    ['is absent if a part was observed and the tolerance is not exceeded', frontier, to(101), null],
    ['is the whole interval if the last page was accepted at its start', frontier, to(100), to(100)],
    ['is the whole interval if the last page was accepted before its start', frontier, to(60, 20), to(60, 20)],
    ['is the whole interval if no page was ever accepted', { ...frontier, observedThrough: null }, to(50), to(50)],
    [
      'begins at the last accepted page if the tolerance is exceeded',
      { ...frontier, observedThrough: ago(coverageTolerance + 1) },
      to(2 * coverageTolerance, 5),
      to(coverageTolerance + 1, 5),
    ],
    [
      'is absent if the last page was accepted after the interval',
      { ...frontier, observedThrough: ago(coverageTolerance + 1) },
      to(3 * coverageTolerance, 2 * coverageTolerance),
      null,
    ],
  ])('%s', (_, given, interval, expected) => {
    expect(unobservedEnd(given, interval, now)).toEqual(expected);
  });

  it('is a gap except where an interruption of the instrument is recorded', () => {
    const own: StoredGap = { source: null, ...to(80, 60), reason: 'maintenance' };
    expect(unobservedGaps(frontier, { interval: to(90, 10), now }, [own, { ...own, source: 'did:plc:a' }])).toEqual([
      { source: null, ...to(90, 80), reason: 'source_unavailable' },
      { source: null, ...to(60, 10), reason: 'source_unavailable' },
    ]);
    expect(unobservedGaps(frontier, { interval: to(101), now }, [])).toEqual([]);
  });
});

describe('the gap of a departed labeler', () => {
  const interval = { start: ago(1_000), end: now };
  const row = (times: Partial<Pick<RosterRow, 'lastAnswered' | 'completeThrough'>>, enrolled = false) => ({
    ...{ did: 'did:plc:a', enrolled, lastAnswered: null, completeThrough: null },
    ...times,
  });
  const gap = { source: 'did:plc:a', end: now, reason: 'source_unavailable' };

  it.each([
    [
      'the time after the point up to which its labels are complete',
      row({ lastAnswered: now, completeThrough: ago(10) }),
      { ...gap, start: ago(10) },
    ],
    [
      'the time after its last response if no later time is known',
      row({ lastAnswered: ago(20) }),
      { ...gap, start: ago(20) },
    ],
    ['clipped to the requested interval', row({ lastAnswered: ago(5_000) }), { ...gap, start: interval.start }],
    ['absent for an enrolled labeler', row({ lastAnswered: ago(20) }, true), null],
    ['absent for a labeler that never responded', row({ lastAnswered: null }), null],
    ['absent for a labeler that left after the interval', row({ lastAnswered: now }), null],
  ])('is %s', (_, labeler, expected) => {
    expect(departureGap(labeler, interval)).toEqual(expected);
  });
});

it('the uncovered parts and the gaps of an interval add up to the interval', () => {
  const span = fc
    .tuple(fc.integer({ min: -50, max: 150 }), fc.integer({ min: 1, max: 40 }))
    .map(([start, length]): Interval => ({ start: micros(start), end: micros(start + length) }));
  fc.assert(
    fc.property(fc.array(span, { maxLength: 8 }), (gaps) => {
      const parts = uncovered({ start: micros(0), end: micros(100) }, gaps);
      const covered = (at: number) => gaps.some(({ start, end }) => start <= at && at < end);
      const listed = (at: number) => parts.some(({ start, end }) => start <= at && at < end);
      for (let at = 0; at < 100; at++) expect(listed(at)).toBe(!covered(at));
    }),
  );
});
