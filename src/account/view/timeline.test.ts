import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountDay } from '../../store/counts.ts';
import { day, dayStart, hour, type Interval, micros } from '../../store/time.ts';
import { overlap, union } from '../query/intervals.ts';
import { timelineOf } from './view.ts';

const first = dayStart(20_000);
const at = (days: number): Interval['start'] => micros(first + days * day);
const none = { applied: 0, removed: 0 };

/** Returns the counts of a day on which labels were applied to the account and removed from a post. */
function counted(days: number, applied: number, removed: number): AccountDay {
  const counts = {
    rows: applied + removed,
    account: { applied, removed: 0 },
    post: { applied: 0, removed },
    record: none,
  };
  return { start: at(days), end: at(days + 1), counts };
}

function timeline(change: Partial<Parameters<typeof timelineOf>[0]>) {
  return timelineOf({
    start: at(0),
    end: at(3),
    available: { start: at(0), end: at(3) },
    tally: { days: [counted(0, 2, 1), counted(1, 0, 0), counted(2, 5, 0)], labelers: [], values: [], groups: [] },
    whole: [],
    some: [],
    ...change,
  });
}

describe('timelineOf', () => {
  it('returns the applications and removals of each day, with zeros for an observed day without events', () => {
    expect(timeline({})).toEqual({
      start: at(0),
      end: at(3),
      days: [
        { start: at(0), end: at(1), counts: { applied: 2, removed: 1 }, unseen: 0, partly: 0 },
        { start: at(1), end: at(2), counts: none, unseen: 0, partly: 0 },
        { start: at(2), end: at(3), counts: { applied: 5, removed: 0 }, unseen: 0, partly: 0 },
      ],
      unseen: [],
      partly: [],
      total: { applied: 7, removed: 1 },
      uncounted: 0,
    });
  });

  it('returns null instead of zeros for the counts of an unobserved day', () => {
    const { days, unseen } = timeline({ whole: [{ start: at(1), end: at(2) }] });
    expect(days.map(({ counts }) => counts)).toEqual([{ applied: 2, removed: 1 }, null, { applied: 5, removed: 0 }]);
    expect(unseen).toEqual([{ start: at(1), end: at(2) }]);
  });

  it('shows time before the retained data as unobserved', () => {
    const { days, unseen, total } = timeline({
      available: { start: micros(at(2) + 6 * hour), end: at(3) },
      tally: { days: [{ ...counted(2, 5, 0), start: micros(at(2) + 6 * hour) }], labelers: [], values: [], groups: [] },
    });
    expect(days.map(({ counts, unseen: hidden }) => [counts, hidden / hour])).toEqual([
      [null, 24],
      [null, 24],
      [{ applied: 5, removed: 0 }, 6],
    ]);
    expect(unseen).toEqual([{ start: at(0), end: at(2) + 6 * hour }]);
    expect(total).toEqual({ applied: 5, removed: 0 });
  });

  it('returns the counts of a day with a gap together with the length of the gap', () => {
    const gap = { start: micros(at(0) + 3 * hour), end: micros(at(0) + 5 * hour) };
    expect(timeline({ whole: [gap] }).days[0]).toEqual({
      start: at(0),
      end: at(1),
      counts: { applied: 2, removed: 1 },
      unseen: 2 * hour,
      partly: 0,
    });
  });

  it('distinguishes gaps of some labelers from gaps of all labelers, and counts each missed instant only once', () => {
    const all = { start: micros(at(1) + 2 * hour), end: micros(at(1) + 4 * hour) };
    const some = {
      source: 'did:web:a.example',
      reason: 'source_unavailable' as const,
      start: at(1),
      end: micros(at(1) + 6 * hour),
    };
    const { days, partly } = timeline({ whole: [all], some: [some, some] });
    expect(days[1]).toMatchObject({ unseen: 2 * hour, partly: 4 * hour });
    expect(partly).toEqual([
      { start: at(1), end: all.start },
      { start: all.end, end: at(1) + 6 * hour },
    ]);
  });

  it('marks a day whose rows were not counted', () => {
    const tally = {
      days: [counted(0, 1, 0), { start: at(1), end: at(2), counts: null }, counted(2, 1, 0)],
      labelers: [],
      values: [],
      groups: [],
    };
    const { days, uncounted, total } = timeline({ tally });
    expect([days[1]?.counts, uncounted, total]).toEqual([null, 1, { applied: 2, removed: 0 }]);
  });
});

describe('union', () => {
  const interval = fc
    .tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 1, max: 30 }))
    .map(([start, length]): Interval => ({ start: micros(start), end: micros(start + length) }));

  it('returns sorted and disjoint intervals that contain exactly the instants of the given intervals within the bounds', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 12 }), interval, (intervals, bounds) => {
        const merged = union(intervals, bounds);
        const inside = (instant: number, all: readonly Interval[]): boolean =>
          all.some(({ start, end }) => start <= instant && instant < end);
        for (let instant = 0; instant < 140; instant++) {
          expect(inside(instant, merged)).toBe(inside(instant, intervals) && inside(instant, [bounds]));
        }
        for (const [i, { start }] of merged.entries()) expect(start).toBeGreaterThan(merged[i - 1]?.end ?? -1);
        const instants = Array.from({ length: 140 }, (_, i) => i).filter((i) => inside(i, merged));
        expect(overlap(merged, { start: micros(0), end: micros(140) })).toBe(instants.length);
      }),
    );
  });
});
