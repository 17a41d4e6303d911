import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Formats } from '../language.ts';
import { HatchPattern, percent } from '../shapes.tsx';
import { type HoleLabel, holeLabels, type TextPart } from './hole-labels.ts';
import { type ChartLayout, type DrawnHole, layChart, plotHeight, plotWidth, type TimeTick } from './layout.ts';
import type { Bin, TimeSeries } from './series.ts';

/** Content of a chart. */
export interface TimeChartProps {
  readonly series: TimeSeries;
  /** Unit of the value axis, such as `events per second`. */
  readonly unit: string;
  /** Content of the picture, in one to three sentences with its most important numbers. */
  readonly summary: string;
  /** Formats of the reader's language. All times are in UTC. */
  readonly formats: Formats;
  /** Describes a period; shown when it is pointed at. Absent for a chart that shows its values in another way. */
  readonly titleOf?: (bin: Bin) => string;
  /** Describes the period with the highest value, next to its mark. Absent for a chart without this mark. */
  readonly peakText?: (bin: Bin) => readonly TextPart[];
}

/** Vertical positions in per cent of the picture: the plot, the strip of observed time, and the texts of the time axis. */
const plotShare = 80;
const strip = { top: 83, height: 5 } as const;
/** Width of a character in units of the plot, in a picture of 400 pixels: the narrowest that shows reasons as text. */
const characterWidth = 16;

/**
 * Draws a chart over time: a value axis that contains zero, a time axis in UTC, holes that are hatched and state their
 * reason, and below the plot a strip whose filled part is the observed share of each hour or day. Lines and areas are
 * stretched to the width of the page, texts are not. The style sheet defines colours and size (classes `plot` and
 * `plot-…`); an image defines them in its own style.
 */
export function TimeChart({ series, unit, summary, formats, titleOf, peakText }: TimeChartProps) {
  const layout = layChart(series);
  const hatch = `${series.id}-hatch`;
  return (
    <svg class="plot" role="img" aria-label={summary}>
      <defs>
        <HatchPattern id={hatch} />
      </defs>
      <Stretched>
        <path class="plot-grid" d={layout.grid} />
        <path class="plot-zero" d={`M0,${layout.zero}h${plotWidth}`} />
        <path class="plot-usual" d={layout.usual} />
        <path class="plot-up" stroke-width={layout.barWidth} d={layout.up} />
        <path class="plot-up plot-part" stroke-width={layout.barWidth} d={layout.upPart} />
        <path class="plot-down" stroke-width={layout.barWidth} d={layout.down} />
        <path class="plot-down plot-part" stroke-width={layout.barWidth} d={layout.downPart} />
        <path class="plot-apart" stroke-width={layout.barWidth} d={layout.apart} />
        <path class={`line-${series.paint}`} d={layout.line} />
        <path class="plot-above" d={layout.above} />
        <path class="plot-below" d={layout.below} />
      </Stretched>
      {layout.holes.map((hole) => (
        <HoleMark key={`${hole.start} ${hole.reason}`} hole={hole} hatch={hatch} />
      ))}
      <ValueTexts layout={layout} unit={unit} formats={formats} />
      {holeLabels(layout, periodLength(series), formats).map((label) => (
        <HoleText key={label.x} label={label} />
      ))}
      {peakText === undefined || layout.peak === null ? null : (
        <PeakMark peak={layout.peak} parts={peakText(layout.peak.bin)} />
      )}
      <Observed layout={layout} hatch={hatch} />
      <g class="plot-text">
        {layout.times
          .filter(({ x }) => x <= 0.94 * plotWidth)
          .map((tick) => (
            <text
              key={tick.at}
              class={isLesser(tick) ? 'plot-minor' : undefined}
              x={percent(shareOf(tick.x))}
              y="99%"
              text-anchor={tickAnchor(tick)}
            >
              {tickText(tick, formats)}
            </text>
          ))}
      </g>
      {titleOf === undefined ? null : <Titles series={series} titleOf={titleOf} />}
    </svg>
  );
}

/** Covers each period that has begun with an invisible area that shows its description. */
function Titles({ series: { bins, through }, titleOf }: { series: TimeSeries; titleOf: (bin: Bin) => string }) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: the picture that contains this part has the text alternative
    <svg width="100%" viewBox={`0 0 ${bins.length} 1`} preserveAspectRatio="none">
      {bins
        .filter(({ start }) => start < through)
        .map((bin, at) => (
          <g key={bin.start}>
            <title>{titleOf(bin)}</title>
            <rect class="chart-touch" x={at} width="1" />
          </g>
        ))}
    </svg>
  );
}

/** Draws shapes in units of the plot, stretched to the plot's area. Paths without data are omitted. */
function Stretched({ children }: { children: preact.VNode<{ d: string }>[] }) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: the picture that contains this part has the text alternative
    <svg width="100%" height={percent(plotShare)} viewBox={`0 0 ${plotWidth} ${plotHeight}`} preserveAspectRatio="none">
      {children.filter(({ props }) => props.d !== '')}
    </svg>
  );
}

/**
 * Writes the values of the ticks to the left of the plot and the unit above it, where the page leaves room for them:
 * within the plot the unit would cover a hole or the highest value.
 */
function ValueTexts({ layout: { values }, unit, formats }: { layout: ChartLayout; unit: string; formats: Formats }) {
  return (
    <g class="plot-text">
      <g class="plot-values">
        {values.map(({ y, value }) => (
          <text key={y} x={-6} y={percent(heightOf(y))} dy={4}>
            {formats.axisValue(value)}
          </text>
        ))}
      </g>
      {values.length === 0 ? null : <text y={-11}>{unit}</text>}
    </g>
  );
}

/** Maximum length of a text that is drawn next to the peak, as a part of the width of a narrow picture. */
const peakRoom = 0.5;

/** The mark of the highest value, with the parts of the text above and next to it. */
export interface PeakMarkProps {
  readonly peak: NonNullable<ChartLayout['peak']>;
  readonly parts: readonly TextPart[];
}

/** Marks the highest value, with its time above and next to the mark. */
function PeakMark({ peak: { x, y }, parts }: PeakMarkProps) {
  const isLeft = x < (1 - peakRoom) * plotWidth;
  const at = isLeft ? x + 8 : x - 8;
  return (
    <>
      <circle class="plot-peak" cx={percent(shareOf(x))} cy={percent(heightOf(y))} r="4" />
      <text
        class="plot-text plot-peak-text"
        x={percent(shareOf(at))}
        y={percent(heightOf(y))}
        dy={-6}
        text-anchor={isLeft ? 'start' : 'end'}
      >
        <Parts parts={parts} />
      </text>
    </>
  );
}

function Parts({ parts }: { readonly parts: readonly TextPart[] }) {
  return (
    <>
      {parts.map(({ text, isWide }) =>
        isWide ? (
          <tspan key={text} class="plot-wide">
            {text}
          </tspan>
        ) : (
          text
        ),
      )}
    </>
  );
}

/** Writes next to a hole, at the lower end of the plot, when it was. */
function HoleText({ label: { x, anchor, before, parts, after, isFirst } }: { label: HoleLabel }) {
  return (
    <text
      class={`plot-text plot-when${isFirst ? '' : ' plot-wide'}`}
      x={percent(shareOf(x))}
      y={percent(plotShare)}
      dy={-5}
      text-anchor={anchor}
    >
      {before}
      <Parts parts={parts} />
      {after}
    </text>
  );
}

/** Returns the length of a chart's periods. */
export function periodLength({ bins: [first] }: TimeSeries): number {
  return first === undefined ? 0 : first.end - first.start;
}

/** Draws a hole with its reason: as a tooltip, and as text where there is room. */
function HoleMark({ hole: { x, width, reason }, hatch }: { hole: DrawnHole; hatch: string }) {
  const place = { x: percent(shareOf(x)), width: percent(shareOf(width)), height: percent(plotShare) };
  return (
    <g class="plot-hole">
      <title>{reason}</title>
      <rect class="chart-unseen-paper" {...place} />
      <rect fill={`url(#${hatch})`} {...place} />
      {width < reason.length * characterWidth ? null : (
        <text class="plot-text plot-reason" x={percent(shareOf(x + width / 2))} y="45%" text-anchor="middle">
          {reason}
        </text>
      )}
    </g>
  );
}

/** Draws the strip of observed time: hatched, with the observed share of each period filled. */
function Observed({ layout: { observed: path, known }, hatch }: { layout: ChartLayout; hatch: string }) {
  const place = { y: percent(strip.top), width: percent(shareOf(known)), height: percent(strip.height) };
  return (
    <>
      <rect class="chart-unseen-paper" {...place} />
      <rect fill={`url(#${hatch})`} {...place} />
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: the picture that contains this part has the text alternative */}
      <svg {...place} width="100%" viewBox={`0 0 ${plotWidth} ${plotHeight}`} preserveAspectRatio="none">
        {path === '' ? null : <path class="plot-observed" d={path} />}
      </svg>
    </>
  );
}

/** Returns true if a narrow picture has no room for the text of a tick. */
function isLesser({ at, form, isMinor }: TimeTick): boolean {
  return isMinor || (form === 'month' && new Date(at).getUTCMonth() % 4 !== 0);
}

/** Returns where a tick of the time axis has its text: centred, unless the text would leave the plot. */
export function tickAnchor({ x }: TimeTick): 'start' | 'middle' {
  return x < 0.07 * plotWidth ? 'start' : 'middle';
}

/** Formats the text of a tick of the time axis. */
export function tickText({ at, form }: TimeTick, formats: Formats): string {
  const micros = microsFromMillis(at);
  if (form === 'month') return formats.monthTick(micros);
  return form === 'day' ? formats.dayTick(micros) : formats.clock(micros);
}

/** Converts a height in units of the plot to per cent of the picture. */
function heightOf(y: number): number {
  return (y / plotHeight) * plotShare;
}

/** Converts a length in units of the plot to per cent of the picture. */
function shareOf(x: number): number {
  return (x / plotWidth) * 100;
}
