import { HatchPattern, percent } from '../../web/shapes.tsx';

/** One bar of a chart: part of the interval, with its counts. */
interface ChartBar {
  /** Start of the bar as a fraction of the interval. */
  readonly from: number;
  readonly to: number;
  /**
   * Counts drawn upwards and downwards. Null if they are unknown: the chart then marks the bar as uncounted instead of
   * drawing a zero.
   */
  readonly counts: { readonly up: number; readonly down: number } | null;
  /** Tooltip of the bar. */
  readonly title: string;
}

/** A period that was not observed for some or all sources; its ends are fractions of the interval. */
interface ChartSpan {
  readonly from: number;
  readonly to: number;
  readonly unseen: 'whole' | 'part';
}

/** Content of a chart. The picture contains no visible text; the page adds the labels. */
interface DayChartProps {
  readonly bars: readonly ChartBar[];
  readonly spans: readonly ChartSpan[];
  /** One-sentence description of the picture. */
  readonly summary: string;
  /** Prefix of the element ids, for a page with several charts. */
  readonly id?: string;
}

/** Chart of days. Positions and sizes are percentages of the picture, so that resizing does not distort it. */

/** Height in per cent of the strip at the bottom, which marks the time that was not observed for some sources. */
const strip = 7;
const middle = (100 - strip - 3) / 2;
/** Minimum height of a bar whose count is not zero, in per cent, so that small bars stay visible next to large ones. */
const least = 2;

/**
 * Shows bars above and below a line, by day. Unobserved time is hatched over the whole height, so that an empty place
 * never looks like a zero. The hatching may overlap bars, because a day may be observed in part. The style sheet
 * defines colours, hatching and size (classes `chart-…`).
 */
export function DayChart({ bars, spans, summary, id = 'chart' }: DayChartProps) {
  const most = Math.max(1, ...bars.map(({ counts }) => (counts ? Math.max(counts.up, counts.down) : 0)));
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(least, (count / most) * (middle - 1)));
  const whole = spans.filter(({ unseen }) => unseen === 'whole');
  const part = spans.filter(({ unseen }) => unseen === 'part');
  return (
    <svg class="chart" role="img" aria-label={summary}>
      <defs>
        <HatchPattern id={`${id}-hatch`} />
      </defs>
      {whole.map((span) => (
        <rect key={span.from} class="chart-unseen-paper" height="100%" {...placed(span, 0)} />
      ))}
      <line class="chart-axis" x1="0" x2="100%" y1={percent(middle)} y2={percent(middle)} />
      {bars.map((bar) => (
        <g key={bar.from}>
          <title>{bar.title}</title>
          <rect class="chart-touch" {...placed(bar, 0)} />
          {bar.counts === null ? <Uncounted bar={bar} /> : <Counted bar={bar} counts={bar.counts} scale={scale} />}
        </g>
      ))}
      {whole.map((span) => (
        <rect key={span.from} class="chart-unseen" fill={`url(#${id}-hatch)`} height="100%" {...placed(span, 0)} />
      ))}
      <line class="chart-axis" x1="0" x2="100%" y1={percent(100 - strip)} y2={percent(100 - strip)} />
      {part.map((span) => (
        <rect
          key={span.from}
          class="chart-part"
          y={percent(100 - strip)}
          height={percent(strip)}
          {...placed(span, 0)}
        />
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
        <rect class="chart-up" y={percent(middle - scale(up))} height={percent(scale(up))} {...placed(bar)} />
      ) : null}
      {down > 0 ? <rect class="chart-down" y={percent(middle)} height={percent(scale(down))} {...placed(bar)} /> : null}
    </>
  );
}

function Uncounted({ bar }: { readonly bar: ChartBar }) {
  return <rect class="chart-uncounted" y={percent(middle - 4)} height="8%" {...placed(bar)} />;
}

/**
 * Returns the horizontal position and width of a bar or span, in per cent of the chart. `room` is the margin on each
 * side, as a fraction of the bar or span.
 */
function placed({ from, to }: { readonly from: number; readonly to: number }, room = 0.12) {
  const all = (to - from) * 100;
  return { x: percent(from * 100 + all * room), width: percent(Math.max(0.1, all * (1 - 2 * room))) };
}
