import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addGap, changedGaps, clip, coalesce, gappedTime, withoutGap } from './gaps.ts';
import type { StoredGap } from './port.ts';
import { micros } from './time.ts';

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
        const kept = gaps.reduce<StoredGap[]>((before, one) => addGap(before, one, limit), []);
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
    expect(addGap(before, gap(40, 41), 3)).toEqual([gap(0, 1), gap(10, 13, 'unknown'), gap(40, 41)]);
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
