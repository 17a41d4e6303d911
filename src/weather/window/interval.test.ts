import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coverage, union, without } from './window.ts';

const spans = fc.array(
  fc.tuple(fc.nat(500), fc.nat(90)).map(([from, length]) => ({ from, to: from + length })),
  { maxLength: 20 },
);

/** Returns every covered microsecond, as a simple reference implementation. */
function points(intervals: readonly { from: number; to: number }[]): Set<number> {
  const covered = new Set<number>();
  for (const { from, to } of intervals) for (let at = from; at < to; at += 1) covered.add(at);
  return covered;
}

describe('the functions on intervals', () => {
  test('subtract intervals, leaving exactly the time that no cut covers', () => {
    fc.assert(
      fc.property(spans, spans, (given, cuts) => {
        const rest = without(union(given), cuts);
        const cut = points(cuts);
        expect(points(rest)).toEqual(new Set([...points(given)].filter((at) => !cut.has(at))));
        for (const [i, { from, to }] of rest.entries()) {
          expect(from).toBeLessThan(to);
          expect(from).toBeGreaterThanOrEqual(rest[i - 1]?.to ?? 0);
        }
      }),
    );
  });

  test('merge intervals into sorted intervals that neither overlap nor touch, and that cover the same time', () => {
    fc.assert(
      fc.property(spans, (given) => {
        const joined = union(given);
        expect(points(joined)).toEqual(points(given));
        for (const [i, { from, to }] of joined.entries()) {
          expect(from).toBeLessThan(to);
          expect(from).toBeGreaterThan(joined[i - 1]?.to ?? -1);
        }
      }),
    );
  });

  test('count the length of an interval in every window that it crosses', () => {
    fc.assert(
      fc.property(spans, fc.nat(100), fc.integer({ min: 1, max: 70 }), (given, start, width) => {
        const covered = points(given);
        const wanted = Array.from({ length: 8 }, (_, span) => {
          let sum = 0;
          for (let at = start + span * width; at < start + (span + 1) * width; at += 1) sum += covered.has(at) ? 1 : 0;
          return sum;
        });
        expect([...coverage(union(given), start, width, 8)]).toEqual(wanted);
      }),
    );
  });

  test('merge intervals that touch', () => {
    expect(
      union([
        { from: 5, to: 9 },
        { from: 1, to: 5 },
      ]),
    ).toEqual([{ from: 1, to: 9 }]);
  });
});
