import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changedGaps,
  clip,
  coalesce,
  coverageTolerance,
  departureGap,
  gappedTime,
  silentGaps,
  unobservedEnd,
  unobservedGaps,
  withoutGap,
} from './gaps.ts';
import type { StoredGap } from './port.ts';
import type { RosterRow } from './roster.ts';
import { type Interval, micros } from './time.ts';

function gap(
  start: number,
  end: number,
  reason: StoredGap['reason'] = 'source_unavailable',
  source: string | null = 'a',
) {
  return { source, start: micros(start), end: micros(end), reason };
}

const anyGap = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 9 }), fc.constantFrom('cursor_reset', 'unknown'))
  .map(([start, length, reason]) => gap(start, start + length, reason as StoredGap['reason']));

function instants(gaps: readonly StoredGap[]): Set<number> {
  return new Set(gaps.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)));
}

describe('gaps', () => {
  it('are merged if they overlap or touch and have the same reason', () => {
    expect(
      coalesce([gap(5, 9), gap(1, 3), gap(3, 4), gap(8, 12), gap(2, 6, 'cursor_reset'), gap(2, 6, 'unknown', null)]),
    ).toEqual([gap(1, 4), gap(2, 6, 'cursor_reset'), gap(2, 6, 'unknown', null), gap(5, 12)]);
  });

  it('are clipped to an interval, and omitted if they only touch it', () => {
    expect(clip([gap(0, 5), gap(5, 8), gap(7, 20), gap(10, 12)], { start: micros(5), end: micros(10) })).toEqual([
      gap(5, 8),
      gap(7, 10),
    ]);
  });

  it('cover every original instant after merging, for any limit', () => {
    fc.assert(
      fc.property(fc.array(anyGap, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (gaps, limit) => {
        const kept = gaps.reduce<StoredGap[]>(
          (before, one) => changedGaps(before, { kind: 'record', gap: one, maxGaps: limit }),
          [],
        );
        expect(kept.length).toBeLessThanOrEqual(limit);
        const covered = instants(kept);
        for (const instant of instants(gaps)) expect(covered.has(instant)).toBe(true);
        expect(gappedTime(kept)).toBe(covered.size);
        expect(gappedTime(gaps)).toBe(instants(gaps).size);
      }),
    );
  });

  it('are limited in number by merging the two closest gaps into one with the reason unknown', () => {
    const before = [gap(0, 1), gap(10, 11), gap(12, 13)];
    expect(changedGaps(before, { kind: 'record', gap: gap(40, 41), maxGaps: 3 })).toEqual([
      gap(0, 1),
      gap(10, 13, 'unknown'),
      gap(40, 41),
    ]);
  });
});

describe('withoutGap', () => {
  it('keeps the parts of a gap before and after the withdrawn interval', () => {
    expect(withoutGap([gap(0, 100)], gap(20, 30))).toEqual([gap(0, 20), gap(30, 100)]);
    expect(withoutGap([gap(0, 100)], gap(0, 30))).toEqual([gap(30, 100)]);
    expect(withoutGap([gap(0, 100)], gap(0, 100))).toEqual([]);
    expect(withoutGap([gap(0, 10), gap(50, 60)], gap(10, 50))).toEqual([gap(0, 10), gap(50, 60)]);
  });

  it('keeps gaps with other reasons', () => {
    const others = [gap(0, 100, 'cursor_reset'), gap(10, 20, 'unknown')];
    expect(withoutGap([...others, gap(0, 100)], gap(0, 100))).toEqual(others);
  });
});

describe('changedGaps', () => {
  const apart = (count: number): StoredGap[] => Array.from({ length: count }, (_, at) => gap(at * 10, at * 10 + 1));

  it('covers the time of a new gap without adding a gap if the source already has the permitted maximum number of gaps', () => {
    const gaps = changedGaps(apart(3), { kind: 'record', gap: gap(100, 101), maxGaps: 3 });
    expect(gaps).toHaveLength(3);
    expect(instants(gaps)).toContain(100);
  });

  it('does not change the number of gaps of a source that already has the permitted maximum or more', () => {
    expect(changedGaps(apart(5), { kind: 'record', gap: gap(40, 45), maxGaps: 2 })).toEqual([...apart(4), gap(40, 45)]);
    expect(changedGaps(apart(512), { kind: 'record', gap: gap(9_000, 9_001) })).toHaveLength(512);
  });
});

const now = micros(1_795_000_000_000_000);
const ago = (microseconds: number) => micros(now - microseconds);

describe('the gap of silence', () => {
  it('begins at the last accepted page once the tolerance is exceeded', () => {
    const frontier = (age: number) => ({ observedThrough: ago(age), floor: ago(10 * coverageTolerance) });
    expect(silentGaps(frontier(coverageTolerance), now, [])).toEqual([]);
    expect(silentGaps(frontier(coverageTolerance + 1), now, [])).toEqual([
      { source: null, start: ago(coverageTolerance + 1), end: now, reason: 'source_unavailable' },
    ]);
  });

  it('begins at the floor if no page was ever accepted', () => {
    const floor = ago(2 * coverageTolerance);
    expect(silentGaps({ observedThrough: null, floor }, now, [])).toEqual([
      { source: null, start: floor, end: now, reason: 'source_unavailable' },
    ]);
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
      const own = gaps.map((one): StoredGap => ({ ...one, source: null, reason: 'maintenance' }));
      const unobserved = { interval: { start: micros(0), end: micros(100) }, now: micros(100) };
      const parts = unobservedGaps({ observedThrough: micros(0), floor: micros(0) }, unobserved, own);
      const covered = (at: number) => gaps.some(({ start, end }) => start <= at && at < end);
      const listed = (at: number) => parts.some(({ start, end }) => start <= at && at < end);
      for (let at = 0; at < 100; at++) expect(listed(at)).toBe(!covered(at));
    }),
  );
});
