import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapReasons } from '../../../contract/vocabulary.ts';
import type { StoredGap } from '../../../store/port.ts';
import { day, hour, micros, minute } from '../../../store/time.ts';
import { partsOf } from '../window/day-counts.ts';
import { listedGaps, merged, readShares, type UnreadGap, unreadTime } from './listed-labeler.ts';

const did = 'did:plc:a';
const window = { start: micros(100.5 * day), end: micros(130.5 * day) };
const inputs = {
  ...{ window, floor: micros(0), gaps: [] as readonly StoredGap[] },
  ...{ firstAnswered: micros(0), lastAnswered: window.end },
};

test('a labeler without gaps that responded before the window is read completely', () => {
  expect(unreadTime(inputs)).toEqual([]);
  expect(readShares(partsOf(window), [])).toEqual(Array.from({ length: 31 }, () => 1));
});

test('the time before the first response, or before the first retained row, is unread', () => {
  const first = micros(window.start + 2 * day);
  const gap = { start: window.start, end: first, reason: 'not_observed' };
  expect(unreadTime({ ...inputs, firstAnswered: first })).toEqual([gap]);
  expect(unreadTime({ ...inputs, floor: first })).toEqual([gap]);
  expect(unreadTime({ ...inputs, firstAnswered: null, lastAnswered: null })).toEqual([
    { ...window, reason: 'not_observed' },
  ]);
});

test('the time since the last response is unread if it exceeds ten minutes', () => {
  const silent = (ago: number) => unreadTime({ ...inputs, lastAnswered: micros(window.end - ago) });
  expect(silent(10 * minute)).toEqual([]);
  expect(silent(11 * minute)).toEqual([
    { start: window.end - 11 * minute, end: window.end, reason: 'source_unavailable' },
  ]);
});

test('a labeler is not unavailable while the instrument itself pauses or is stopped', () => {
  const before = (ago: number) => micros(window.end - ago);
  const silentFor = (ago: number, gaps: typeof inputs.gaps) =>
    unreadTime({ ...inputs, gaps, lastAnswered: before(ago) });
  const paused = { source: did, start: before(3 * hour), end: window.end, reason: 'ingest_paused' as const };
  const stopped = { source: null, start: before(3 * hour), end: before(minute), reason: 'maintenance' as const };
  expect(silentFor(3 * hour, [paused])).toEqual([
    { start: before(3 * hour), end: window.end, reason: 'ingest_paused' },
  ]);
  // The nine minutes of a quiet stream before the instrument stopped, and the minute after its start, are tolerated.
  expect(silentFor(3 * hour + 9 * minute, [stopped])).toEqual([
    { start: before(3 * hour), end: before(minute), reason: 'maintenance' },
  ]);
});

test('the time since the last response before and after a pause of the instrument is unread if it exceeds ten minutes', () => {
  const before = (ago: number) => micros(window.end - ago);
  const paused = { source: null, start: before(3 * hour), end: before(hour), reason: 'ingest_paused' as const };
  const lost = { source: did, start: before(hour), end: before(30 * minute), reason: 'cursor_reset' as const };
  expect(unreadTime({ ...inputs, gaps: [paused, lost], lastAnswered: before(4 * hour) })).toEqual([
    { start: before(4 * hour), end: before(3 * hour), reason: 'source_unavailable' },
    { start: before(3 * hour), end: before(hour), reason: 'ingest_paused' },
    { start: before(hour), end: before(30 * minute), reason: 'cursor_reset' },
    { start: before(hour), end: window.end, reason: 'source_unavailable' },
  ]);
});

test('gaps of the instrument count for the labeler, and gaps of one reason are coalesced', () => {
  const at = (hours: number) => micros(window.start + hours * hour);
  const gaps = [
    { source: null, start: at(1), end: at(3), reason: 'ingest_paused' as const },
    { source: did, start: at(2), end: at(4), reason: 'ingest_paused' as const },
    { source: did, start: at(3), end: at(5), reason: 'cursor_reset' as const },
  ];
  const unread = unreadTime({ ...inputs, gaps });
  expect(unread).toEqual([
    { start: at(1), end: at(4), reason: 'ingest_paused' },
    { start: at(3), end: at(5), reason: 'cursor_reset' },
  ]);
  // Overlapping gaps count once, so they cover 4 of the 12 hours of the first day.
  expect(readShares(partsOf(window), unread)[0]).toBe(0.6667);
});

test('a share is 0 or 1 only if that value is exact', () => {
  const part = [{ start: micros(0), end: micros(day) }];
  const shareOf = (start: number, end: number) => readShares(part, [{ start: micros(start), end: micros(end) }])[0];
  expect(shareOf(0, day)).toBe(0);
  expect(shareOf(0, day - 1)).toBe(0.0001);
  expect(shareOf(0, 1)).toBe(0.9999);
  expect(shareOf(day, 2 * day)).toBe(1);
});

const gap = fc
  .record({
    start: fc.integer({ min: 0, max: 1_000 }),
    length: fc.integer({ min: 1, max: 60 }),
    reason: fc.constantFrom(...gapReasons),
  })
  .map(({ start, length, reason }): UnreadGap => ({ start: micros(start), end: micros(start + length), reason }));
const sortedGaps = fc
  .array(gap, { maxLength: 60 })
  .map((gaps) => gaps.toSorted((a, b) => a.start - b.start || a.end - b.end));

test('the shares of the parts agree with a direct count of unread instants', () => {
  fc.assert(
    fc.property(sortedGaps, (gaps) => {
      const parts = Array.from({ length: 11 }, (_, i) => ({ start: micros(i * 100), end: micros((i + 1) * 100) }));
      const shares = parts.map(({ start }) => {
        const instants = Array.from({ length: 100 }, (_, i) => start + i);
        return instants.filter((at) => !gaps.some((one) => one.start <= at && at < one.end)).length / 100;
      });
      expect(readShares(parts, gaps)).toEqual(shares);
    }),
  );
});

test('a list of gaps stays within its limit, covers all unread time, and is disjoint if gaps were merged', () => {
  fc.assert(
    fc.property(sortedGaps, fc.integer({ min: 2, max: 16 }), (gaps, limit) => {
      const listed = listedGaps(gaps, limit);
      expect(listed.overflow).toBe(gaps.length > limit);
      if (!listed.overflow) expect(listed.gaps).toEqual(gaps);
      expect(listed.gaps.length).toBeLessThanOrEqual(limit);
      const covering = merged(listed.gaps);
      for (const one of gaps)
        expect(covering.some(({ start, end }) => start <= one.start && one.end <= end)).toBe(true);
      if (listed.overflow) expect(covering).toHaveLength(listed.gaps.length);
    }),
  );
});
