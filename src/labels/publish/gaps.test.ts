import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gapReasons } from '../../contract/vocabulary.ts';
import type { StoredGap } from '../../store/port.ts';
import { hour, micros, minute } from '../../store/time.ts';
import { unionGaps } from './coverage.ts';

const window = { start: micros(0), end: micros(30 * 24 * hour) };
const gap = (start: number, end: number, over: Partial<StoredGap> = {}): StoredGap => ({
  source: 'did:plc:a',
  reason: 'source_unavailable',
  start: micros(start),
  end: micros(end),
  ...over,
});
const spans = (gaps: readonly { start: number; end: number }[]) =>
  gaps.map(({ start, end }) => [start / minute, end / minute]);

describe('gaps of many sources', () => {
  test('are joined if they overlap or are at most a minute apart, separately for each reason', () => {
    const { gaps, overflow } = unionGaps(
      [
        gap(10 * minute, 20 * minute),
        gap(15 * minute, 30 * minute, { source: 'did:plc:b' }),
        gap(31 * minute, 32 * minute, { source: 'did:plc:c' }),
        gap(34 * minute, 35 * minute),
        gap(12 * minute, 13 * minute, { source: null, reason: 'ingest_paused' }),
      ],
      window,
    );
    expect(overflow).toBe(false);
    expect(gaps.map(({ start, end, reason }) => [start / minute, end / minute, reason])).toEqual([
      [10, 32, 'source_unavailable'],
      [12, 13, 'ingest_paused'],
      [34, 35, 'source_unavailable'],
    ]);
  });

  test('keep the later end when they are joined, even if the first gap contains the second gap', () => {
    const { gaps } = unionGaps([gap(hour, 4 * hour), gap(2 * hour, 3 * hour, { source: 'did:plc:b' })], window);
    expect(spans(gaps)).toEqual([[60, 240]]);
  });

  test('are clipped to the window', () => {
    const { gaps } = unionGaps([gap(-hour, minute), gap(window.end - minute, window.end + hour), gap(-9, -1)], window);
    expect(spans(gaps)).toEqual([
      [0, 1],
      [window.end / minute - 1, window.end / minute],
    ]);
  });

  test('are listed separately if there are at most 128, and otherwise joined', () => {
    const apart = (count: number) =>
      Array.from({ length: count }, (_, i) => gap(i * 10 * minute, (i * 10 + 1) * minute));
    expect(unionGaps(apart(128), window)).toMatchObject({ overflow: false, gaps: { length: 128 } });
    expect(unionGaps(apart(129), window)).toMatchObject({ overflow: false, gaps: { length: 1 } });
  });

  test('overflow the list only if more than 128 gaps remain with the widest tolerance', () => {
    const sevenHoursApart = (count: number) =>
      Array.from({ length: count }, (_, i) => gap(i * 7 * hour, i * 7 * hour + minute));
    const wide = { start: window.start, end: micros(200 * 7 * hour) };
    expect(unionGaps(sevenHoursApart(128), wide)).toMatchObject({ overflow: false, gaps: { length: 128 } });
    expect(unionGaps(sevenHoursApart(129), wide)).toEqual({ overflow: true, gaps: [{ ...wide, reason: 'unknown' }] });
  });

  test('are joined with the smallest sufficient tolerance if there are more than 128', () => {
    // 200 gaps of a minute, alternately 10 and 50 minutes apart: joining the near pairs gives 100.
    const many = Array.from({ length: 100 }, (_, i) => [
      gap(i * 62 * minute, (i * 62 + 1) * minute),
      gap((i * 62 + 11) * minute, (i * 62 + 12) * minute),
    ]).flat();
    const { gaps, overflow } = unionGaps(many, window);
    expect([gaps.length, overflow]).toEqual([100, false]);
    expect(spans(gaps.slice(0, 2))).toEqual([
      [0, 12],
      [62, 74],
    ]);
  });

  test('become one unknown gap that spans the window if a tolerance of six hours does not suffice', () => {
    const many = gapReasons.flatMap((reason) =>
      Array.from({ length: 60 }, (_, i) => gap(i * 12 * hour, i * 12 * hour + minute, { reason })),
    );
    expect(unionGaps(many, window)).toEqual({ gaps: [{ ...window, reason: 'unknown' }], overflow: true });
  });

  test('are all covered by the joined gaps, which are sorted, disjoint per reason and limited in number', () => {
    const some = fc.array(
      fc.record({
        start: fc.integer({ min: -1000, max: 43_000 }),
        length: fc.integer({ min: 1, max: 300 }),
        reason: fc.constantFrom(...gapReasons),
      }),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(some, fc.integer({ min: 8, max: 40 }), (given, limit) => {
        const stored = given.map(({ start, length, reason }) =>
          gap(start * minute, (start + length) * minute, { reason }),
        );
        const { gaps, overflow } = unionGaps(stored, window, limit);
        expect(gaps.length).toBeLessThanOrEqual(limit);
        expect([...gaps].sort((a, b) => a.start - b.start)).toEqual(gaps);
        for (const { start, end, reason } of stored) {
          const [from, to] = [Math.max(start, window.start), Math.min(end, window.end)];
          const hidden =
            from < to && !gaps.some((one) => one.start <= from && to <= one.end && (overflow || one.reason === reason));
          expect(hidden).toBe(false);
        }
        for (const reason of gapReasons) {
          const own = gaps.filter((one) => one.reason === reason);
          for (const [i, one] of own.entries())
            expect(one.start).toBeGreaterThan(own[i - 1]?.end ?? Number.NEGATIVE_INFINITY);
        }
      }),
    );
  });
});
