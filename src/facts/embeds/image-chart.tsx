import { holeLabels } from '../../web/chart/hole-labels.ts';
import { type ChartLayout, layChart, plotHeight, plotWidth } from '../../web/chart/layout.ts';
import { tickText } from '../../web/chart/time-chart.tsx';
import { formatsOf } from '../../web/language/formats.ts';
import { peakText } from '../hours/chart-figure.tsx';
import type { PageChart } from '../hours/hours-chart.ts';
import { type Area, hatchOf, tenths } from './image.tsx';

/**
 * A chart over time within an image. Unlike on a page, the size is fixed, so everything has absolute coordinates and an
 * explicit stroke: viewers without nested pictures, percentages, patterns and `paint-order`, such as ImageMagick's own
 * renderer, draw it like a browser. The shapes are those of the page.
 */

const formats = formatsOf('en');
/** Height of the strip of observed time, and its distance from the plot. */
const strip = { gap: 6, height: 9 } as const;
/** Distance of the texts of the time axis from the strip. */
const textDepth = 16;

/** Place and width of a chart in an image. */
interface ImageChartProps {
  readonly chart: PageChart;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Draws a chart with its upper left corner at `x` and `y`. */
export function ImageChart({ chart, x, y, width }: ImageChartProps) {
  const layout = layChart(chart.series);
  const scale = width / plotWidth;
  const height = plotHeight * scale;
  const place = `translate(${x},${y})`;
  const known = layout.known * scale;
  return (
    <>
      <g transform={`${place} scale(${scale})`}>
        {shapes(layout, chart.series.paint)
          .filter(({ d }) => d !== '')
          .map(({ name, d, barWidth, isPart }) => (
            <path
              key={`${name} ${isPart}`}
              class={name}
              d={d}
              stroke-width={barWidth}
              stroke-opacity={isPart ? 0.5 : undefined}
            />
          ))}
      </g>
      <g transform={place}>
        {layout.holes.map((hole) => (
          <g key={`${hole.start} ${hole.reason}`} class="plot-hole">
            <title>{hole.reason}</title>
            <Unseen x={hole.x * scale} y={0} width={hole.width * scale} height={height} />
          </g>
        ))}
        <Texts layout={layout} unit={chart.unit} scale={scale} />
        <Peak layout={layout} chart={chart} scale={scale} />
        {holeLabels(layout.holes, binLength(chart), formats).map((label) => (
          <Text key={label.time} x={label.x * scale} y={height - 5} anchor={label.anchor}>
            {`${label.words}${label.time}`}
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

function binLength({ series: { bins } }: PageChart): number {
  const first = bins[0];
  return first === undefined ? 0 : first.end - first.start;
}

function shapes(layout: ChartLayout, paint: string) {
  const { barWidth } = layout;
  return [
    { name: 'plot-grid', d: layout.grid },
    { name: 'plot-zero', d: `M0,${layout.zero}h${plotWidth}` },
    { name: 'plot-usual', d: layout.usual },
    { name: 'plot-up', d: layout.up, barWidth },
    { name: 'plot-up', d: layout.upPart, barWidth, isPart: true },
    { name: 'plot-down', d: layout.down, barWidth },
    { name: 'plot-down', d: layout.downPart, barWidth, isPart: true },
    { name: 'plot-apart', d: layout.apart, barWidth },
    { name: `line-${paint}`, d: layout.line },
    { name: 'plot-above', d: layout.above },
    { name: 'plot-below', d: layout.below },
  ] satisfies { name: string; d: string; barWidth?: number; isPart?: true }[];
}

/** Draws a hatched area. */
function Unseen(area: Area) {
  const { x, y, width, height } = area;
  return (
    <>
      <rect class="chart-unseen-paper" x={tenths(x)} y={tenths(y)} width={tenths(width)} height={tenths(height)} />
      <path class="plot-hatch" d={hatchOf(area)} />
    </>
  );
}

function Texts({ layout, unit, scale }: { layout: ChartLayout; unit: string; scale: number }) {
  const { values, times } = layout;
  const bottom = plotHeight * scale + strip.gap + strip.height + textDepth - 3;
  return (
    <>
      {values.map(({ y, value }, at) => (
        <Text key={y} x={0} y={y * scale - 3}>
          {at === values.length - 1 ? `${formats.axisValue(value)} ${unit}` : formats.axisValue(value)}
        </Text>
      ))}
      {times
        .filter(({ x }) => x <= 0.94 * plotWidth)
        .map((tick) => (
          <Text key={tick.at} x={tick.x * scale} y={bottom}>
            {tickText(tick, formats)}
          </Text>
        ))}
    </>
  );
}

function Peak({ layout: { peak }, chart, scale }: { layout: ChartLayout; chart: PageChart; scale: number }) {
  if (peak === null) return null;
  const isLeft = peak.x < 0.7 * plotWidth;
  const isOverTexts = peak.x < 0.2 * plotWidth;
  const [x, y] = [peak.x * scale, peak.y * scale];
  return (
    <>
      <circle class="plot-peak" cx={tenths(x)} cy={tenths(y)} r="4" />
      <Text
        paint="plot-peak-text"
        x={isLeft ? x + 7 : x - 7}
        y={isOverTexts ? y + 15 : y - 4}
        anchor={isLeft ? 'start' : 'end'}
      >
        {peakText(chart, peak.bin)}
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
  readonly anchor?: 'start' | 'end';
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
