import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layChart, plotHeight, plotWidth, stepPoints } from './layout.ts';
import { type Bin, type Hole, observedParts, type TimeSeries } from './series.ts';

const hour = 3_600_000;
const start = Date.parse('2026-11-18T00:00:00Z');

function binsOf(values: readonly (number | null)[], length = hour): Bin[] {
  return values.map((value, at) => ({
    ...{ start: start + at * length, end: start + (at + 1) * length, value },
    ...{ observed: value === null ? 0 : 1, reason: null },
  }));
}

function series(values: readonly (number | null)[], changes: Partial<TimeSeries> = {}): TimeSeries {
  const bins = binsOf(values);
  return { id: 'x', shape: 'line', paint: 'weather', bins, holes: [], through: bins.at(-1)?.end ?? 0, ...changes };
}

const hole = (from: number, to: number): Hole => ({ start: start + from * hour, end: start + to * hour, reason: 'r' });

describe('layChart', () => {
  it('draws a rate as steps over the observed time, and interrupts the line within an hour and across two hours', () => {
    const { line } = layChart(series([10, 20, 30, null], { holes: [hole(0.5, 1.25), hole(3, 4)] }));
    // Four hours are 1000 units wide; the axis reaches 30 at 16 units from the top.
    const y = (value: number): number => Math.round(10 * (plotHeight - (value / 30) * (plotHeight - 16))) / 10;
    const down = (from: number, to: number): string => `v${Math.round(10 * (y(to) - y(from))) / 10}`;
    expect(line).toBe(`M0,${y(10)}h125M312.5,${y(20)}h187.5${down(20, 30)}h250`);
  });

  it('never draws a segment over a hole or after the end of the known time', () => {
    const value = fc.option(fc.nat({ max: 1_000 }));
    const holes = fc.array(
      fc.tuple(fc.double({ min: -1, max: 13, noNaN: true }), fc.double({ min: 0.01, max: 5, noNaN: true })),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 12 }),
        holes,
        fc.double({ min: 0, max: 12, noNaN: true }),
        (values, pairs, known) => {
          const made = series(values, {
            holes: pairs.map(([from, length]) => hole(from, from + length)),
            through: start + Math.min(known, values.length) * hour,
          });
          const points = stepPoints(made);
          for (const [at, point] of points.entries()) {
            const next = points[at + 1];
            if (!point || !next || next.at === point.at) continue;
            for (const { start: from, end: to } of made.holes) expect(next.at <= from || point.at >= to).toBe(true);
            expect(next.at).toBeLessThanOrEqual(made.through);
            expect(next.value).toBe(point.value);
          }
        },
      ),
    );
  });

  it('begins every axis at zero and ends it at a round tick', () => {
    for (const values of [[3], [123, 456], [0, 0], [0.004], [98_765]]) {
      for (const shape of ['line', 'bars'] as const) {
        const { values: ticks, zero } = layChart(series(values, { shape }));
        expect(ticks[0]).toEqual({ y: plotHeight, value: 0 });
        expect(zero).toBe(plotHeight);
        expect(ticks.at(-1)?.value).toBeGreaterThanOrEqual(Math.max(...values));
        expect(ticks.length).toBeLessThanOrEqual(6);
      }
    }
    expect(layChart(series([1], { shape: 'bars' })).values.map(({ value }) => value)).toEqual([0, 1, 2, 3, 4]);
  });

  it('draws counts below the line on the same scale as counts above it, and draws a count of one visibly', () => {
    const bins = binsOf([100, 1]).map((bin, at) => ({ ...bin, below: at === 0 ? 50 : 0 }));
    const { up, down, zero, values } = layChart(series([], { bins, shape: 'bars', through: start + 2 * hour }));
    expect(values.map(({ value }) => value)).toEqual([50, 0, 50, 100]);
    const heights = (path: string): number[] =>
      [...path.matchAll(/v(-?[\d.]+)/g)].map(([, height]) => Math.abs(Number(height)));
    expect(heights(up)[0]).toBeCloseTo(2 * (heights(down)[0] ?? 0), 0);
    expect(heights(up)[1]).toBe(2);
    expect(up).toContain(`M250,${zero}v${-(zero - 16).toFixed(1)}`);
    expect(heights(down)).toHaveLength(1);
  });

  it('draws a partly observed hour apart from whole hours, and a later count apart from both', () => {
    const bins = binsOf([4, 4, 4]).map((bin, at) => ({
      ...bin,
      observed: at === 1 ? 0.5 : 1,
      apart: at === 2 ? 3 : 0,
    }));
    const { up, upPart, apart, observed } = layChart(series([], { bins, shape: 'bars', through: start + 3 * hour }));
    expect([up, upPart, apart].map((path) => path.match(/M/g)?.length)).toEqual([2, 1, 1]);
    expect(observed).toBe('M0,200v-200h333.3v100h333.4v-100h333.3v200Z');
  });

  it('draws a short unobserved part of a period large enough to be seen', () => {
    const bins = binsOf([4, 4, 4]).map((bin, at) => ({ ...bin, observed: at === 1 ? 0.99 : 1 }));
    const { observed } = layChart(series([], { bins, through: start + 3 * hour }));
    expect(observed).toBe('M0,200v-200h333.3v60h333.4v-60h333.3v200Z');
  });

  it('draws the usual range only where there is one', () => {
    const bins = binsOf([1, 1, 1]).map((bin, at) => ({ ...bin, usual: at === 1 ? null : { low: 1, high: 2 } }));
    const { usual } = layChart(series([], { bins, through: start + 3 * hour }));
    expect(usual.match(/M/g)).toHaveLength(2);
    expect(layChart(series([1])).usual).toBe('');
  });

  it('draws every hole inside the plot, and at least 3 units wide', () => {
    const short = { ...hole(0, 0), end: start + 1_000 };
    const { holes } = layChart(series([1, 1, 1, 1], { holes: [short, hole(1, 2), hole(3, 9), hole(-3, -1)] }));
    expect(holes.map(({ x, width }) => [x, width])).toEqual([
      [0, 3],
      [250, 250],
      [750, 250],
    ]);
  });

  it('places ticks at the starts of UTC days, weeks and months', () => {
    const days = 86_400_000;
    const ticksOf = (count: number, length: number) =>
      layChart(series([], { bins: binsOf(Array(count).fill(1), length) })).times;
    expect(ticksOf(72, hour).map(({ at, isMinor }) => [(at - start) / hour, isMinor])).toEqual([
      ...[
        [0, false],
        [24, false],
        [48, false],
      ],
      ...[
        [12, true],
        [36, true],
        [60, true],
      ],
    ]);
    expect(ticksOf(30, days).map(({ at }) => new Date(at).getUTCDay())).toEqual([1, 1, 1, 1]);
    expect(ticksOf(365, days).map(({ at }) => new Date(at).getUTCDate())).toEqual(Array(12).fill(1));
  });

  it('draws nothing of a chart without periods', () => {
    expect(layChart(series([]))).toMatchObject({ line: '', usual: '', up: '', observed: '', holes: [] });
  });
});

describe('observedParts', () => {
  it('returns the time outside overlapping holes and before the end of the known time', () => {
    const holes = [hole(0.5, 0.75), hole(0.6, 1.5), hole(-1, 0.1)];
    const parts = observedParts({ start, end: start + 2 * hour }, { holes, through: start + 1.75 * hour });
    expect(parts.map((part) => [(part.start - start) / hour, (part.end - start) / hour])).toEqual([
      [0.1, 0.5],
      [1.5, 1.75],
    ]);
  });
});

it('the width of the plot is the length of the time axis', () => {
  expect(layChart(series([1, 1])).line).toBe(`M0,16h${plotWidth / 2}h${plotWidth / 2}`);
});
