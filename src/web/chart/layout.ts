import { max } from 'd3-array';
import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { utcDay, utcHour, utcMonday, utcMonth } from 'd3-time';
import { tenths } from '../shapes.tsx';
import { type Bin, type Hole, observedParts, peakOf, sideOf, type TimeSeries } from './series.ts';

/** Width of the plot in units of the drawing. The drawing is stretched to the width of the page. */
export const plotWidth = 1000;
/** Height of the plot in units of the drawing. */
export const plotHeight = 200;
/** Free space above the highest tick, in units of the drawing, for its text. */
export const headroom = 16;
/** Width of a bar as a fraction of its period. */
const barShare = 0.76;
/** Minimum width of a drawn hole, in units of the drawing, which keeps short holes visible. */
const minHole = 3;

/** A tick of the time axis. */
export interface TimeTick {
  /** Position in units of the drawing. */
  readonly x: number;
  readonly at: number;
  /** Form of the tick's text. A `minor` tick has a text only where there is room. */
  readonly form: 'day' | 'month' | 'hour';
  readonly isMinor: boolean;
}

/** A drawn rectangle, in units of the drawing. */
export interface DrawnHole extends Hole {
  readonly x: number;
  readonly width: number;
}

/** A chart, laid out for drawing. Paths are SVG path data; an empty path draws nothing. */
export interface ChartLayout {
  /** Values of a line chart, interrupted at every hole. */
  readonly line: string;
  /** Area of the usual range. */
  readonly usual: string;
  readonly up: string;
  readonly down: string;
  /** Bars of periods that were not observed entirely or have not ended. */
  readonly upPart: string;
  readonly downPart: string;
  /** Counts drawn apart. */
  readonly apart: string;
  /** Marks above the plot of the periods whose value is above its usual range. */
  readonly above: string;
  /** Marks of the periods whose value is below its usual range. */
  readonly below: string;
  /** The highest value; null if no value is above zero, or if only one is known. */
  readonly peak: { readonly x: number; readonly y: number; readonly bin: Bin } | null;
  /** Width of a bar, in units of the drawing. */
  readonly barWidth: number;
  /** Lines of the ticks, except that of zero. */
  readonly grid: string;
  /** Observed share of each period, from 0 to `plotHeight`. */
  readonly observed: string;
  readonly holes: readonly DrawnHole[];
  /** Days that were observed in part. The strip of observed time shows them; only their labels are drawn apart. */
  readonly partDays: readonly DrawnHole[];
  readonly values: readonly { readonly y: number; readonly value: number }[];
  readonly times: readonly TimeTick[];
  /** Horizontal position of the end of the known time. */
  readonly known: number;
  /** Vertical position of zero. */
  readonly zero: number;
}

/** Scale of the time axis, in milliseconds since 1970; its ticks are chosen by `timeTicks`. */
type TimeScale = ScaleLinear<number, number>;
type ValueScale = ScaleLinear<number, number>;

/**
 * Lays out a chart. Every value axis contains zero and ends at a round number. A line is drawn as steps over the observed
 * parts of its periods only, so that no segment crosses a hole.
 */
export function layChart(series: TimeSeries): ChartLayout {
  const { bins, shape, through } = series;
  const x = scaleLinear([bins[0]?.start ?? 0, bins.at(-1)?.end ?? 1], [0, plotWidth]);
  const y = valueScale(series);
  const bars = shape === 'bars';
  const times = timeTicks(x);
  // Without any known value there is no scale.
  const values = (hasValues(series) ? y.ticks(4) : []).map((value) => ({
    y: tenths(y(value)),
    value: Math.abs(value),
  }));
  const isWhole = ({ end, observed }: Bin): boolean => observed >= 1 && end <= through;
  const whole = bins.filter(isWhole);
  const part = bins.filter((bin) => !isWhole(bin));
  const up = (some: readonly Bin[]) => (bars ? barsOf(some, (bin) => span(0, bin.value), x, y) : '');
  const down = (some: readonly Bin[]) => (bars ? barsOf(some, (bin) => span(0, negative(bin.below)), x, y) : '');
  return {
    line: bars ? '' : linePath(series, x, y),
    usual: usualPath(bins, x, y),
    ...{ up: up(whole), down: down(whole), upPart: up(part), downPart: down(part) },
    apart: apartPath(series, x, y),
    above: marksPath(
      bins.filter((bin) => sideOf(bin, through) === 'above'),
      x,
      sideHeight,
    ),
    below: marksPath(
      bins.filter((bin) => sideOf(bin, through) === 'below'),
      x,
      sideHeight,
    ),
    peak: peakPoint(series, x, y),
    barWidth: bars ? tenths((plotWidth / Math.max(1, bins.length)) * barShare) : markWidth,
    grid: gridPath(values, times, y(0)),
    observed: observedPath(bins, through, x),
    holes: series.holes.map((hole) => drawnHole(hole, x)).filter(({ width }) => width > 0),
    // The first day may begin before the time that the chart is about.
    partDays: bins
      .slice(1)
      .filter((bin) => isPartDay(bin, through))
      .map((bin) => drawnHole({ ...bin, reason: '' }, x)),
    values,
    times,
    zero: tenths(y(0)),
    known: Math.min(plotWidth, tenths(x(through))),
  };
}

function hasValues({ bins }: TimeSeries): boolean {
  return bins.some(({ value, below, usual }) => value !== null || (below ?? null) !== null || (usual ?? null) !== null);
}

/** Depth of a tick's line below the plot, in units of the drawing: to the lower end of the strip of observed time. */
const tickDepth = 20;

function gridPath(values: ChartLayout['values'], times: readonly TimeTick[], zero: number): string {
  const across = values.filter(({ y }) => y !== tenths(zero)).map(({ y }) => `M0,${y}h${plotWidth}`);
  const down = times.map(({ x, isMinor }) =>
    isMinor ? `M${x},${plotHeight}v${tickDepth}` : `M${x},0v${plotHeight + tickDepth}`,
  );
  return [...across, ...down].join('');
}

function valueScale({ bins, shape }: TimeSeries): ValueScale {
  const top =
    max(bins, ({ value, apart, usual }) =>
      Math.max((value ?? 0) + (shape === 'bars' ? (apart ?? 0) : 0), usual?.high ?? 0),
    ) ?? 0;
  const bottom = max(bins, ({ below }) => below ?? 0) ?? 0;
  // A chart of counts needs whole ticks, so its axis reaches at least 4.
  const least = shape === 'bars' ? 4 : top === 0 ? 1 : top;
  const low = bottom === 0 ? 0 : -Math.max(bottom, shape === 'bars' ? 4 : 0);
  return scaleLinear([low, Math.max(top, least)], [plotHeight, headroom]).nice(4);
}

/** Point of a step line; null interrupts the line. */
type StepPoint = { readonly at: number; readonly value: number } | null;

/**
 * Returns the points of a line: both ends of every observed part of every period with a known value. Parts that do not
 * adjoin are separated by null.
 */
export function stepPoints(series: Pick<TimeSeries, 'bins' | 'holes' | 'through'>): StepPoint[] {
  const points: StepPoint[] = [];
  let reached: number | null = null;
  for (const bin of series.bins) {
    const { value } = bin;
    if (value === null) continue;
    for (const { start, end } of partsOf(bin, series)) {
      if (reached !== null && reached !== start) points.push(null);
      points.push({ at: start, value }, { at: end, value });
      reached = end;
    }
  }
  return points;
}

/**
 * Returns the observed parts of a period with a value. If joined gaps overstate the holes so far that no part is left,
 * returns an empty part in the middle, which is drawn as a dot.
 */
function partsOf(bin: Bin, series: Pick<TimeSeries, 'holes' | 'through'>): { start: number; end: number }[] {
  const parts = observedParts(bin, series);
  if (parts.length > 0) return parts;
  const middle = (bin.start + Math.max(bin.start, Math.min(bin.end, series.through))) / 2;
  return [{ start: middle, end: middle }];
}

function linePath(series: TimeSeries, x: TimeScale, y: ValueScale): string {
  const points = stepPoints(series).map((point) => point && { x: x(point.at), y: y(point.value) });
  return stepPath(points, unitsOf(series.bins));
}

/**
 * Returns the path through points whose connections are horizontal or vertical; null interrupts it. Coordinates are
 * relative and multiples of `unit`, because a year has more than a thousand of them.
 */
function stepPath(points: readonly ({ readonly x: number; readonly y: number } | null)[], unit: number): string {
  const rounded = (value: number): number => tenths(Math.round(value / unit) * unit);
  let path = '';
  let [left, top] = [0, 0];
  let isOpen = false;
  for (const point of points) {
    const [right, bottom] = point === null ? [left, top] : [rounded(point.x), rounded(point.y)];
    if (point === null) isOpen = false;
    else if (!isOpen) path += `M${right},${bottom}`;
    else path += `${move('h', right - left)}${move('v', bottom - top)}`;
    // A piece without length needs a command to be drawn as a dot.
    if (isOpen && right === left && bottom === top && path.endsWith(`M${left},${top}`)) path += 'h0';
    isOpen = point !== null;
    [left, top] = [right, bottom];
  }
  return path;
}

function move(command: 'h' | 'v', distance: number): string {
  const rounded = tenths(distance);
  return rounded === 0 ? '' : `${command}${rounded}`;
}

/** Returns the areas of the usual ranges: along their upper ends, and back along their lower ends. */
function usualPath(bins: readonly Bin[], x: TimeScale, y: ValueScale): string {
  const runs: Bin[][] = [[]];
  for (const bin of bins) {
    if (bin.usual) runs.at(-1)?.push(bin);
    else if (runs.at(-1)?.length !== 0) runs.push([]);
  }
  const edge = (run: readonly Bin[], end: 'low' | 'high') =>
    run.flatMap(({ start, end: to, usual }) => [start, to].map((at) => ({ x: x(at), y: y(usual?.[end] ?? 0) })));
  return runs
    .filter((run) => run.length > 0)
    .map((run) => `${stepPath([...edge(run, 'high'), ...edge(run, 'low').toReversed()], unitsOf(bins))}Z`)
    .join('');
}

/** Minimum share that is drawn as not observed in a period that was not observed entirely, so that it is visible. */
const leastMissed = 0.3;

function observedPath(bins: readonly Bin[], through: number, x: TimeScale): string {
  const past = bins.filter(({ start }) => start < through);
  const first = past[0];
  if (!first) return '';
  const edges = past.flatMap(({ start, end, observed }) => {
    const missed = Math.min(1, 1 - Math.max(0, observed));
    const y = missed <= 0 ? 0 : Math.max(leastMissed, missed) * plotHeight;
    return [
      { x: x(start), y },
      { x: x(Math.min(end, through)), y },
    ];
  });
  const [from, to] = [edges[0]?.x ?? 0, edges.at(-1)?.x ?? 0];
  const outline = [{ x: from, y: plotHeight }, ...withoutRepeats(edges), { x: to, y: plotHeight }];
  return `${stepPath(outline, unitsOf(bins))}Z`;
}

/** Returns the precision of a path: a whole unit is less than a pixel where periods are only a few pixels wide. */
function unitsOf(bins: readonly Bin[]): number {
  return bins.length > 100 ? 1 : 0.1;
}

/** Drops the points in the middle of a horizontal line, which are most of a year. */
function withoutRepeats<P extends { readonly y: number }>(points: readonly P[]): P[] {
  return points.filter(({ y }, at) => y !== points[at - 1]?.y || y !== points[at + 1]?.y);
}

type ValueSpan = { readonly from: number; readonly to: number } | null;

function span(from: number, to: number | null): ValueSpan {
  return to === null || to === from ? null : { from, to };
}

function negative(value: number | null | undefined): number | null {
  return value ? -value : null;
}

/**
 * Returns the path of bars as vertical lines, which the caller draws with the width `barWidth`. A bar whose count is not
 * zero is at least 2 units high.
 */
function barsOf(bins: readonly Bin[], spanOf: (bin: Bin) => ValueSpan, x: TimeScale, y: ValueScale): string {
  return bins
    .map((bin) => {
      const values = spanOf(bin);
      if (values === null) return '';
      const length = y(values.to) - y(values.from);
      const drawn = Math.sign(length) * Math.max(2, Math.abs(length));
      return `M${tenths(x((bin.start + bin.end) / 2))},${tenths(y(values.from))}v${tenths(drawn)}`;
    })
    .join('');
}

/** Height of the mark of a count that a line chart states apart, in units of the drawing. */
const markWidth = 4;

/** Returns the counts drawn apart: on top of the bars; above a line, which has another unit, only marks of their periods. */
function apartPath({ bins, shape }: TimeSeries, x: TimeScale, y: ValueScale): string {
  if (shape === 'bars') {
    return barsOf(bins, ({ value, apart }) => span(value ?? 0, apart ? (value ?? 0) + apart : null), x, y);
  }
  return marksPath(
    bins.filter(({ apart }) => apart),
    x,
    markWidth,
  );
}

/** Vertical position of the marks of periods outside their usual range: above the plot, where no text is. */
const sideHeight = -4;

/** Returns marks at a height of the plot, one for each run of adjoining periods. */
function marksPath(bins: readonly Bin[], x: TimeScale, height: number): string {
  const runs: { start: number; end: number }[] = [];
  for (const { start, end } of bins) {
    const last = runs.at(-1);
    if (last?.end === start) last.end = end;
    else runs.push({ start, end });
  }
  return runs.map(({ start, end }) => `M${tenths(x(start))},${height}h${tenths(x(end) - x(start))}`).join('');
}

function peakPoint(series: TimeSeries, x: TimeScale, y: ValueScale): ChartLayout['peak'] {
  const bin = peakOf(series);
  // One period is the highest of none.
  if (!bin || series.bins.filter(({ value }) => value !== null).length < 2) return null;
  const end = Math.min(bin.end, Math.max(bin.start, series.through));
  return { x: tenths(x((bin.start + end) / 2)), y: tenths(y(bin.value ?? 0)), bin };
}

function isPartDay({ start, end, observed }: Bin, through: number): boolean {
  return end - start > hour && end <= through && observed > 0 && observed < 1;
}

function drawnHole(hole: Hole, x: TimeScale): DrawnHole {
  const from = Math.max(0, x(hole.start));
  const to = Math.min(plotWidth, x(hole.end));
  if (to <= from) return { ...hole, x: 0, width: 0 };
  const width = Math.max(minHole, to - from);
  return {
    ...hole,
    x: tenths(Math.max(0, Math.min(plotWidth - width, (from + to - width) / 2))),
    width: tenths(width),
  };
}

const [day, hour] = [86_400_000, 3_600_000];

function timeTicks(x: TimeScale): TimeTick[] {
  const [start = new Date(0), end = new Date(0)] = x.domain().map((at) => new Date(at));
  const length = end.getTime() - start.getTime();
  const ticks = (all: readonly Date[], form: TimeTick['form'], isMinor: boolean): TimeTick[] =>
    all.filter((at) => at >= start).map((at) => ({ x: tenths(x(at)), at: at.getTime(), form, isMinor }));
  if (length > 100 * day) return ticks(utcMonth.range(start, end), 'month', false);
  if (length > 8 * day) return ticks(utcMonday.range(start, end), 'day', false);
  const midnight = utcDay.floor(start);
  if (length < 2 * day) {
    const sixths = ticks(utcHour.range(midnight, end, 6), 'hour', false);
    return sixths.map((tick) => ((tick.at / hour) % 24 === 0 ? { ...tick, form: 'day' } : tick));
  }
  const noons = ticks(
    utcDay
      .range(midnight, end)
      .map((at) => utcHour.offset(at, 12))
      .filter((at) => at < end),
    'hour',
    true,
  );
  return [...ticks(utcDay.range(start, end), 'day', false), ...noons];
}
