import { describe, expect, it } from 'vitest';
import { aLabeler } from '../../../../harness/artifacts/labeler-facts.ts';
import type { LabelerFacts } from '../../../contract/labelers.ts';
import { layChart } from '../../../web/chart/layout.ts';
import type { Hole } from '../../../web/chart/series.ts';
import { activityChart, dayTitles, unreadReasons } from './activity.tsx';

const dayMs = 86_400_000;
const unavailable = 'the labeler was unavailable or not followed';
/** A window of three and a half days. */
const window = { start: '2026-11-16T12:00:00.000Z', end: '2026-11-20T00:00:00.000Z' };
const days = ['16', '17', '18', '19'].map((day, i) => ({
  ...{ day: `2026-11-${day}`, applied: 10 * i, removed: i, read_share: 1 },
}));

/** Returns the chart of a labeler with the given facts. */
function chartOf(changes: Partial<LabelerFacts> = {}) {
  const facts = aLabeler({ window, days, ...changes });
  const chart = activityChart(facts);
  if (chart === null) throw new Error('no chart');
  return { chart, facts, ...chart.series, titles: chart.series.bins.map(dayTitles(facts)) };
}

/** Returns holes with ends as timestamps. */
function holesOf(holes: readonly Hole[]): string[] {
  const instant = (at: number): string => new Date(at).toISOString().slice(5, 16);
  return holes.map(({ start, end, reason }) => `${instant(start)} to ${instant(end)}: ${reason}`);
}

describe('the activity chart of a labeler', () => {
  it('has one bar for each day of the window, with the applications above and the removals below zero', () => {
    const { bins, shape, through } = chartOf();
    expect([shape, through]).toEqual(['bars', Date.parse(window.end)]);
    expect(
      bins.map(({ start, end, value, below }) => [new Date(start).getUTCDate(), end - start, value, below]),
    ).toEqual([
      [16, dayMs, 0, 0],
      [17, dayMs, 10, 1],
      [18, dayMs, 20, 2],
      [19, dayMs, 30, 3],
    ]);
  });

  it('marks the part of the first day before the window, which its share does not describe', () => {
    const { bins, holes, titles } = chartOf();
    expect(bins.map(({ observed }) => observed)).toEqual([0.5, 1, 1, 1]);
    expect(holesOf(holes)).toEqual(['11-16T00:00 to 11-16T12:00: before the window']);
    expect(titles.slice(0, 2)).toEqual([
      '2026-11-16: 0 applied, 0 removed, 50\u00a0% read: before the window',
      '2026-11-17: 10 applied, 1 removed',
    ]);
  });

  it('shows a day that was not read as a hole with its reason, never as zero', () => {
    const unread = { day: '2026-11-18', applied: null, removed: null, read_share: 0 };
    const gap = {
      start: '2026-11-17T18:00:00.000Z',
      end: '2026-11-19T00:00:00.000Z',
      reason: 'source_unavailable' as const,
    };
    const { chart, bins, holes, titles } = chartOf({
      days: days.map((day) =>
        day.day === unread.day ? unread : day.day === '2026-11-17' ? { ...day, read_share: 0.75 } : day,
      ),
      gaps: [gap],
    });
    expect(bins.map(({ value, observed }) => [value, observed])).toEqual([
      [0, 0.5],
      [10, 0.75],
      [null, 0],
      [30, 1],
    ]);
    expect(holesOf(holes)[1]).toBe(`11-17T18:00 to 11-19T00:00: ${unavailable}`);
    expect(titles.slice(1, 3)).toEqual([
      `2026-11-17: 10 applied, 1 removed, 75\u00a0% read: ${unavailable}`,
      `2026-11-18: counts not known, nothing read: ${unavailable}`,
    ]);
    expect([...unreadReasons(chart)]).toEqual([
      ['2026-11-17', unavailable],
      ['2026-11-18', unavailable],
    ]);
    // One bar for a day that was read entirely, one for a day that was read in part, none for the day that was not.
    const { up, upPart, holes: drawn } = layChart(chart.series);
    expect([up, upPart].map((path) => path.split('M').length - 1)).toEqual([1, 1]);
    expect(drawn.map(({ x, width, reason }) => [x, width, reason])[1]).toEqual([437.5, 312.5, unavailable]);
  });

  it('names the denial of the labeler as the reason for the time after it', () => {
    const gap = {
      start: '2026-11-18T00:00:00.000Z',
      end: '2026-11-20T00:00:00.000Z',
      reason: 'source_unavailable' as const,
    };
    const { holes } = chartOf({ state: 'denied', state_since: '2026-11-19T00:00:00.000Z', gaps: [gap] });
    expect(holesOf(holes).slice(1)).toEqual([
      `11-18T00:00 to 11-19T00:00: ${unavailable}`,
      '11-19T00:00 to 11-20T00:00: the operator of Almanac decided not to read it',
    ]);
  });

  it('joins days that are neither counted nor in a recorded gap, and states that their reason is not recorded', () => {
    const { bins, holes } = chartOf({ days: days.slice(0, 2) });
    expect(bins.map(({ value }) => value)).toEqual([0, 10, null, null]);
    expect(holesOf(holes)[1]).toBe('11-18T00:00 to 11-20T00:00: reason not recorded');
  });

  it('leaves the time after the window blank, and marks the last day as not ended', () => {
    const end = '2026-11-19T06:00:00.000Z';
    const { bins, holes, titles, through } = chartOf({ window: { ...window, end } });
    expect([bins.length, through, bins.at(-1)?.observed]).toEqual([4, Date.parse(end), 1]);
    expect(holes.every((hole) => hole.end <= through)).toBe(true);
    expect(titles.at(-1)).toBe('2026-11-19: 30 applied, 3 removed, so far');
  });

  it('has at most 100 days, and does not exist for a window without a length', () => {
    expect(chartOf({ window: { ...window, start: '1970-01-01T00:00:00.000Z' } }).bins).toHaveLength(100);
    expect(activityChart(aLabeler({ window: { start: window.end, end: window.end } }))).toBeNull();
  });
});
