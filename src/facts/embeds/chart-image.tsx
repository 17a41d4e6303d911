import type { Origin } from '../../contract/vocabulary.ts';
import { holeLabels } from '../../web/chart/hole-labels.ts';
import { type ChartLayout, layChart, plotHeight, plotWidth } from '../../web/chart/layout.ts';
import { tickAnchor, tickText } from '../../web/chart/time-chart.tsx';
import { instantText } from '../../web/format.ts';
import { formatsOf } from '../../web/language/formats.ts';
import { type PageChart, peakText, summaryOf } from '../hours/chart-figure.tsx';
import { networkNames } from './badge.tsx';
import { type Area, chartStyle, Hatched, Line, Plate, plateArea, renderPlate, tenths } from './image.tsx';

/** Vertical position of a chart in its image. */
const chartTop = 54;
/** Height of the image of a chart, in units of the drawing. */
const chartImageHeight = 240;

/** Renders a chart as an SVG document, with the same shapes as on the page. `about` precedes its description. */
export function chartImage(chart: PageChart, origin: Origin | null, about = ''): string {
  const { series, title } = chart;
  const until = new Date(Math.min(series.through, series.bins.at(-1)?.end ?? series.through)).toISOString();
  const notes = [`until ${instantText(until)}`, ...(series.holes.length === 0 ? [] : ['hatched: not observed'])];
  return framed(title, origin, {
    description: about + summaryOf(chart),
    children: (
      <>
        <ImageChart chart={chart} x={plateArea.left} y={chartTop} width={plateArea.width} />
        <Line x={plateArea.left} y={chartImageHeight - 10} paint="soft">
          {`${notes.join('; ')}; strip: observed share of the time`}
        </Line>
      </>
    ),
  });
}

/** Renders an image that states why the chart is not drawn. */
export function refusedImage(title: string, origin: Origin | null, why: string): string {
  return framed(title, origin, {
    description: `No chart is drawn. ${why}`,
    children: (
      <>
        <Plate text="No chart is drawn: the counts are refused or absent" paint="refused" y={50} height={150} />
        <Line x={plateArea.left} y={224} paint="soft">
          The page of the observatory states the reason.
        </Line>
      </>
    ),
  });
}

function framed(
  title: string,
  known: Origin | null,
  parts: { readonly description: string; readonly children: preact.ComponentChildren },
): string {
  const origin = known ?? 'live';
  return renderPlate({
    ...parts,
    origin,
    title: `${networkNames[origin]}: ${title}`,
    height: chartImageHeight,
    style: chartStyle,
  });
}

/**
 * A chart over time within an image. Unlike on a page, the size is fixed, so everything has absolute coordinates and an
 * explicit stroke: viewers without nested pictures, percentages, patterns and `paint-order`, such as ImageMagick's own
 * renderer, draw it like a browser. The shapes are those of the page.
 */

const formats = formatsOf('en');
/** Height of the strip of observed time, and its distance from the plot. */
const strip = { gap: 6, height: 9 } as const;
/** Room for the values of the axis. */
const valueRoom = 40;
/** Distance of the texts of the time axis from the strip. */
const textDepth = 16;

/** Place and width of a chart in an image. */
interface ImageChartProps {
  readonly chart: PageChart;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Draws a chart with the upper left corner of its values at `x` and of its plot at `y`. */
function ImageChart({ chart, x: left, y, width }: ImageChartProps) {
  const layout = layChart(chart.series);
  const x = left + valueRoom;
  const scale = (width - valueRoom) / plotWidth;
  const height = plotHeight * scale;
  const place = `translate(${x},${y})`;
  const known = layout.known * scale;
  return (
    <>
      <g transform={`${place} scale(${scale})`}>
        {shapes(layout, chart.series.paint)
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
        <Texts layout={layout} unit={chart.unit} scale={scale} />
        <Peak layout={layout} chart={chart} scale={scale} />
        {holeLabels(layout, binLength(chart), formats).map((label) => (
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

function binLength({ series: { bins } }: PageChart): number {
  const first = bins[0];
  return first === undefined ? 0 : first.end - first.start;
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

/** Writes the values next to the plot and the unit above it, where they cover nothing. */
function Texts({ layout, unit, scale }: { layout: ChartLayout; unit: string; scale: number }) {
  const { values, times } = layout;
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

function Peak({ layout: { peak }, chart, scale }: { layout: ChartLayout; chart: PageChart; scale: number }) {
  if (peak === null) return null;
  const isLeft = peak.x < 0.7 * plotWidth;
  const [x, y] = [peak.x * scale, peak.y * scale];
  const words = peakText(chart, peak.bin).map(({ text }) => text);
  return (
    <>
      <circle class="plot-peak" cx={tenths(x)} cy={tenths(y)} r="4" />
      <Text paint="plot-peak-text" x={isLeft ? x + 7 : x - 7} y={y - 5} anchor={isLeft ? 'start' : 'end'}>
        {words.join('')}
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
