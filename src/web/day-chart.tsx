/** One bar of a chart: a stretch of the interval with what was counted in it. */
export interface ChartBar {
  /** Where the stretch lies in the interval, as fractions of it. */
  readonly from: number;
  readonly to: number;
  /** Drawn upwards and downwards; null where nobody counted, which is drawn as such and never as zero. */
  readonly counts: { readonly up: number; readonly down: number } | null;
  /** Shown when a pointer rests on it. */
  readonly title: string;
}

/** A stretch that was not observed, as fractions of the interval: by nobody, or not of every source. */
export interface ChartSpan {
  readonly from: number;
  readonly to: number;
  readonly unseen: 'whole' | 'part';
}

/** What a chart shows. Its words stand beside it: the picture holds no text of its own. */
export interface DayChartProps {
  readonly bars: readonly ChartBar[];
  readonly spans: readonly ChartSpan[];
  /** The picture in one sentence. */
  readonly summary: string;
  /** Prefix of identifiers, where a page has several charts. */
  readonly id?: string;
}

/** Width of the drawing in its own units; it is stretched to the page's. */
const width = 1000;
const height = 200;
/** Height of the strip at the foot that tells what was observed of every source. */
const strip = 14;
const middle = (height - strip - 6) / 2;
/** Least height of a bar that is not zero: seen, however high the others are. */
const least = 4;

/**
 * Bars above and below a line, by day. What was not observed is hatched over the whole height, so that an empty place
 * is never read as a zero; the hatching lies over bars too, as a day may be observed in part. Colours, hatching and size are the style sheet's (classes `chart-…`).
 */
export function DayChart({ bars, spans, summary, id = 'chart' }: DayChartProps) {
  const most = Math.max(1, ...bars.map(({ counts }) => (counts ? Math.max(counts.up, counts.down) : 0)));
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(least, (count / most) * (middle - 2)));
  const whole = spans.filter(({ unseen }) => unseen === 'whole');
  const part = spans.filter(({ unseen }) => unseen === 'part');
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={summary}>
      <defs>
        <pattern id={`${id}-hatch`} width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="chart-hatch-line" width="3" height="8" />
        </pattern>
      </defs>
      {whole.map((span) => (
        <rect key={span.from} class="chart-unseen-paper" y="0" height={height} {...placed(span, 0)} />
      ))}
      <line class="chart-axis" x1="0" x2={width} y1={middle} y2={middle} vector-effect="non-scaling-stroke" />
      {bars.map((bar) => (
        <g key={bar.from}>
          <title>{bar.title}</title>
          <rect class="chart-touch" y="0" height={height} {...placed(bar, 0)} />
          {bar.counts === null ? <Uncounted bar={bar} /> : <Counted bar={bar} counts={bar.counts} scale={scale} />}
        </g>
      ))}
      {whole.map((span) => (
        <rect
          key={span.from}
          class="chart-unseen"
          fill={`url(#${id}-hatch)`}
          y="0"
          height={height}
          {...placed(span, 0)}
        />
      ))}
      <line
        class="chart-axis"
        x1="0"
        x2={width}
        y1={height - strip}
        y2={height - strip}
        vector-effect="non-scaling-stroke"
      />
      {part.map((span) => (
        <rect key={span.from} class="chart-part" y={height - strip} height={strip} {...placed(span, 0)} />
      ))}
    </svg>
  );
}

interface CountedProps {
  readonly bar: ChartBar;
  readonly counts: NonNullable<ChartBar['counts']>;
  readonly scale: (count: number) => number;
}

function Counted({ bar, counts: { up, down }, scale }: CountedProps) {
  return (
    <>
      {up > 0 ? (
        <rect class="chart-up" y={round(middle - scale(up))} height={round(scale(up))} {...placed(bar)} />
      ) : null}
      {down > 0 ? <rect class="chart-down" y={middle} height={round(scale(down))} {...placed(bar)} /> : null}
    </>
  );
}

function Uncounted({ bar }: { readonly bar: ChartBar }) {
  return (
    <rect class="chart-uncounted" y={middle - 8} height="16" vector-effect="non-scaling-stroke" {...placed(bar)} />
  );
}

/** Place along the interval, with a little room at both sides. */
function placed({ from, to }: { readonly from: number; readonly to: number }, room = 0.12) {
  const all = (to - from) * width;
  return { x: round(from * width + all * room), width: round(Math.max(1, all * (1 - 2 * room))) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
