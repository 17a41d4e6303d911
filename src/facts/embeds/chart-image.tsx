import type { Origin } from '../../contract/vocabulary.ts';
import { TimeChart } from '../../web/chart/time-chart.tsx';
import { instantText } from '../../web/format.ts';
import { formatsOf } from '../../web/language/formats.ts';
import { type PageChart, summaryOf } from '../hours/hours-chart.ts';
import { chartWidth, innerWidth, left, Plate } from './chart-section.tsx';
import { Line, renderImage } from './image.tsx';
import { chartStyle } from './style.ts';
import { networkNames } from './texts.ts';

/** Height of the image of a chart, in units of the drawing. */
const chartImageHeight = 240;

/** Renders a chart as an SVG document, with the same shapes as on the page. */
export function chartImage(chart: PageChart, origin: Origin): string {
  const { series, title, unit } = chart;
  const until = new Date(Math.min(series.through, series.bins.at(-1)?.end ?? series.through)).toISOString();
  const notes = [`until ${instantText(until)}`, ...(series.holes.length === 0 ? [] : ['hatched: not observed'])];
  return frame(title, origin, {
    description: summaryOf(chart),
    children: (
      <>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the image has a title and a description */}
        <svg x={left} y="44" width={innerWidth} height="168">
          <TimeChart series={series} unit={unit} summary={title} formats={formatsOf('en')} />
        </svg>
        <Line x={left} y={230} paint="soft">
          {`${notes.join('; ')}; strip: observed share of the time`}
        </Line>
      </>
    ),
  });
}

/** Renders an image that states why the chart is not drawn. */
export function refusedImage(title: string, origin: Origin, why: string): string {
  return frame(title, origin, {
    description: `No chart is drawn. ${why}`,
    children: (
      <>
        <Plate text="No chart is drawn: the counts are refused or absent" paint="refused" y={50} height={150} />
        <Line x={left} y={224} paint="soft">
          The page of the observatory states the reason.
        </Line>
      </>
    ),
  });
}

function frame(
  title: string,
  origin: Origin,
  { description, children }: { readonly description: string; readonly children: preact.ComponentChildren },
): string {
  const name = `${networkNames[origin]}: ${title}`;
  return renderImage({
    width: chartWidth,
    height: chartImageHeight,
    title: name,
    description,
    style: chartStyle,
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={chartWidth - 1} height={chartImageHeight - 1} rx="4" />
        <rect class={origin === 'live' ? 'head' : 'mark'} x="1" y="1" width={chartWidth - 2} height="29" />
        <Line x={left} y={20} size={13} paint={origin === 'live' ? 'on-head' : 'on-mark'} isStrong>
          {name}
        </Line>
        {children}
      </>
    ),
  });
}
