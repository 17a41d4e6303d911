import { type Area, Hatched, tenths } from '../shapes.tsx';
import { holeLabels } from './hole-labels.ts';
import { type ChartLayout, layChart, plotHeight, plotWidth } from './layout.ts';
import { type PeakMarkProps, periodLength, type TimeChartProps, tickAnchor, tickText } from './time-chart.tsx';

/** Height of the strip of observed time, and its distance from the plot. */
const strip = { gap: 6, height: 9 } as const;
/** Room for the values of the axis. */
const valueRoom = 40;
/** Distance of the texts of the time axis from the strip. */
const textDepth = 16;

/** Content of a chart, with its place and width in an image. */
interface StillChartProps extends Pick<TimeChartProps, 'series' | 'unit' | 'formats'> {
  readonly peakText: NonNullable<TimeChartProps['peakText']>;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/**
 * Draws a chart over time within an image, with the upper left corner of its values at `x` and of its plot at `y`. The
 * shapes are those of the page. Unlike on a page, the size is fixed, so everything has absolute coordinates and an explicit
 * stroke: viewers without nested pictures, percentages, patterns and `paint-order`, such as ImageMagick's own renderer,
 * draw it like a browser. The style of the image must define the classes `plot-…` and `chart-unseen-paper`.
 */
export function StillChart({ series, unit, formats, peakText, x: left, y, width }: StillChartProps) {
  const layout = layChart(series);
  const x = left + valueRoom;
  const scale = (width - valueRoom) / plotWidth;
  const height = plotHeight * scale;
  const place = `translate(${x},${y})`;
  const known = layout.known * scale;
  return (
    <>
      <g transform={`${place} scale(${scale})`}>
        {shapes(layout, series.paint)
          .filter(({ d }) => d !== '')
          .map(({ name, d }) => (
            <path key={name} class={name} d={d} />
          ))}
      </g>
      <g transform={place}>
        {layout.holes.map((hole) => (
          <g key={`${hole.start} ${hole.reason}`} class="plot-hole">
            <title>{hole.reason}</title>
            <Unseen x={hole.x * scale} y={0} width={hole.width * scale} height={height} />
          </g>
        ))}
        <Texts {...{ layout, unit, formats, scale }} />
        {layout.peak === null ? null : <Peak peak={layout.peak} parts={peakText(layout.peak.bin)} scale={scale} />}
        {holeLabels(layout, periodLength(series), formats).map((label) => (
          <Text key={label.x} x={label.x * scale} y={height - 5} anchor={label.anchor}>
            {`${label.before}${label.parts.map(({ text }) => text).join('')}${label.after}`}
          </Text>
        ))}
        <Unseen x={0} y={height + strip.gap} width={known} height={strip.height} />
      </g>
      <g transform={`translate(${x},${y + height + strip.gap}) scale(${scale},${strip.height / plotHeight})`}>
        {layout.observed === '' ? null : <path class="plot-observed" d={layout.observed} />}
      </g>
    </>
  );
}

function shapes(layout: ChartLayout, paint: string) {
  const bars = (d: string): string => boxesOf(d, layout.barWidth);
  return [
    { name: 'plot-grid', d: layout.grid },
    { name: 'plot-zero', d: `M0,${layout.zero}h${plotWidth}` },
    { name: 'plot-usual', d: layout.usual },
    { name: 'plot-up', d: bars(layout.up) },
    // Colours, because ImageMagick ignores the opacity of a shape that a class fills.
    { name: 'plot-up-part', d: bars(layout.upPart) },
    { name: 'plot-down', d: bars(layout.down) },
    { name: 'plot-down-part', d: bars(layout.downPart) },
    { name: 'plot-apart', d: bars(layout.apart) },
    { name: `line-${paint}`, d: layout.line },
    { name: 'plot-above', d: layout.above },
    { name: 'plot-below', d: layout.below },
  ];
}

/** Rounds to hundredths, so that a box of an odd number of tenths has the middle of its line. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Returns separate straight lines of a width as boxes, because ImageMagick adds round ends to wide lines. */
function boxesOf(lines: string, width: number): string {
  const half = width / 2;
  return lines.replace(/M(-?[\d.]+),(-?[\d.]+)([hv])(-?[\d.]+)/g, (_line, x, y, direction, length) =>
    direction === 'v'
      ? `M${hundredths(Number(x) - half)},${y}h${width}v${length}h${-width}Z`
      : `M${x},${hundredths(Number(y) - half)}h${length}v${width}h${-Number(length)}Z`,
  );
}

/** Draws a hatched area of a chart. */
function Unseen(area: Area) {
  return <Hatched paper="chart-unseen-paper" hatch="plot-hatch" {...area} />;
}

interface TextsProps extends Pick<TimeChartProps, 'unit' | 'formats'> {
  readonly layout: ChartLayout;
  readonly scale: number;
}

/** Writes the values next to the plot and the unit above it, where they cover nothing. */
function Texts({ layout: { values, times }, unit, formats, scale }: TextsProps) {
  const bottom = plotHeight * scale + strip.gap + strip.height + textDepth - 3;
  return (
    <>
      {values.map(({ y, value }) => (
        <Text key={y} x={-6} y={y * scale + 4} anchor="end">
          {formats.axisValue(value)}
        </Text>
      ))}
      {values.length === 0 ? null : (
        <Text x={0} y={-7}>
          {unit}
        </Text>
      )}
      {times
        .filter(({ x }) => x <= 0.94 * plotWidth)
        .map((tick) => (
          <Text key={tick.at} x={tick.x * scale} y={bottom} anchor={tickAnchor(tick)}>
            {tickText(tick, formats)}
          </Text>
        ))}
    </>
  );
}

function Peak({ peak, parts, scale }: PeakMarkProps & { readonly scale: number }) {
  const isLeft = peak.x < 0.7 * plotWidth;
  const [x, y] = [peak.x * scale, peak.y * scale];
  return (
    <>
      <circle class="plot-peak" cx={tenths(x)} cy={tenths(y)} r="4" />
      <Text paint="plot-peak-text" x={isLeft ? x + 7 : x - 7} y={y - 5} anchor={isLeft ? 'start' : 'end'}>
        {parts.map(({ text }) => text).join('')}
      </Text>
    </>
  );
}

/** Draws a text in front of a copy of itself in the colour of the paper, so that it is legible on shapes. */
function Text({
  x,
  y,
  anchor = 'start',
  paint = 'plot-text',
  children,
}: {
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly paint?: string;
  readonly children: string;
}) {
  const place = { x: tenths(x), y: tenths(y), 'font-size': 11, 'text-anchor': anchor };
  return (
    <>
      <text class="plot-halo" font-weight={paint === 'plot-peak-text' ? 700 : 400} {...place}>
        {children}
      </text>
      <text class={paint} {...place}>
        {children}
      </text>
    </>
  );
}
