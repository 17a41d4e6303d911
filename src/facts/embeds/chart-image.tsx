import type { Origin } from '../../contract/vocabulary.ts';
import { StillChart } from '../../web/chart/still-chart.tsx';
import { instantText } from '../../web/format.ts';
import { formatsOf } from '../../web/language.ts';
import { type PageChart, peakText, summaryOf } from '../hours/chart-figure.tsx';
import { networkNames } from './badge.tsx';
import { chartStyle, Line, Plate, plateArea, renderPlate } from './image.tsx';

/** Vertical position of a chart in its image. */
const chartTop = 54;
/** Height of the image of a chart, in units of the drawing. */
const chartImageHeight = 240;

/** Renders a chart as an SVG document, with the same shapes as on the page. `about` precedes its description. */
export function chartImage(chart: PageChart, origin: Origin | null, about = ''): string {
  const { series, title, unit, isOfAllLabelers } = chart;
  const until = new Date(Math.min(series.through, series.bins.at(-1)?.end ?? series.through)).toISOString();
  const notes = [`until ${instantText(until)}`, ...(series.holes.length === 0 ? [] : ['hatched: not observed'])];
  return framed(title, origin, {
    description: about + summaryOf(chart),
    children: (
      <>
        <StillChart
          {...{ series, unit, formats: formatsOf('en'), peakText: (bin) => peakText(chart, bin) }}
          {...{ x: plateArea.left, y: chartTop, width: plateArea.width }}
        />
        <Line x={plateArea.left} y={chartImageHeight - 10} paint="soft">
          {`${notes.join('; ')}; strip: ${isOfAllLabelers ? 'label collection' : 'observed share of the time'}`}
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
