import { percent } from './bar.tsx';
import { Hatch } from './hatch.tsx';

/** One bar of a chart: a stretch of the interval with what was counted in it. */
export interface ChartBar {
  /** Position of the stretch in the interval, as fractions. */
  readonly from: number;
  readonly to: number;
  /** Drawn upwards and downwards; null if not counted, which is drawn as such and never as zero. */
  readonly counts: { readonly up: number; readonly down: number } | null;
  /** Shown when a pointer rests on it. */
  readonly title: string;
}

/** A stretch that was not observed for all or some sources, as fractions of the interval. */
export interface ChartSpan {
  readonly from: number;
  readonly to: number;
  readonly unseen: 'whole' | 'part';
}

/** Content of a chart. The picture contains no text; the page adds it. */
export interface DayChartProps {
  readonly bars: readonly ChartBar[];
  readonly spans: readonly ChartSpan[];
  /** The picture in one sentence. */
  readonly summary: string;
  /** Prefix of identifiers, where a page has several charts. */
  readonly id?: string;
}

/** Places and sizes are per cent of the picture, so that nothing in it is stretched with it. */

/** Height of the strip at the foot that tells what was observed of every source. */
const strip = 7;
const middle = (100 - strip - 3) / 2;
/** Least height of a bar that is not zero: seen, however high the others are. */
const least = 2;

/**
 * Bars above and below a line, by day. What was not observed is hatched over the whole height, so that an empty place
 * is never read as a zero; the hatching lies over bars too, as a day may be observed in part. Colours, hatching and
 * size are the style sheet's (classes `chart-…`).
 */
export function DayChart({ bars, spans, summary, id = 'chart' }: DayChartProps) {
  const most = Math.max(1, ...bars.map(({ counts }) => (counts ? Math.max(counts.up, counts.down) : 0)));
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(least, (count / most) * (middle - 1)));
  const whole = spans.filter(({ unseen }) => unseen === 'whole');
  const part = spans.filter(({ unseen }) => unseen === 'part');
  return (
    <svg class="chart" role="img" aria-label={summary}>
      <defs>
        <Hatch id={`${id}-hatch`} />
      </defs>
      {whole.map((span) => (
        <rect key={span.from} class="chart-unseen-paper" height="100%" {...placed(span, 0)} />
      ))}
      <line class="chart-axis" x1="0" x2="100%" y1={percent(middle)} y2={percent(middle)} />
      {bars.map((bar) => (
        <g key={bar.from}>
          <title>{bar.title}</title>
          <rect class="chart-touch" height="100%" {...placed(bar, 0)} />
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

/** Place along the interval, with a little room at both sides. */
function placed({ from, to }: { readonly from: number; readonly to: number }, room = 0.12) {
  const all = (to - from) * 100;
  return { x: percent(from * 100 + all * room), width: percent(Math.max(0.1, all * (1 - 2 * room))) };
}
