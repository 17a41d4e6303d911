/** One point of a line, at an equal distance from its neighbours. */
export interface LinePoint {
  /** Value; null if it is unknown, which interrupts the line. */
  readonly value: number | null;
  /** True if the value was observed for a part of its time only. */
  readonly isPartial: boolean;
}

/** A line of a chart with its own scale. */
export interface ChartLine {
  /** Class of the line, for its colour. */
  readonly kind: 'weather' | 'labels';
  readonly points: readonly LinePoint[];
}

/** Content of a chart: lines of the same number of points, one above the other. */
export interface LinkedLineProps {
  readonly lines: readonly ChartLine[];
  /** Link and tooltip of each column of points. */
  readonly columns: readonly { readonly href: string; readonly title: string }[];
  /** Description of the picture in one sentence. */
  readonly summary: string;
}

/** Geometry of the drawing, in its own units: width per point, height per line, vertical margin within a line. */
const step = 10;
const height = 100;
const room = 8;

/**
 * Draws lines that break where a value is unknown: no line leads over unobserved time, and an unknown value is never drawn
 * as 0. Each column links to its file. The drawing has no text, and fits the width of the page.
 */
export function LinkedLines({ lines, columns, summary }: LinkedLineProps) {
  const width = columns.length * step;
  return (
    <svg class="lines" viewBox={`0 0 ${width} ${lines.length * height}`} preserveAspectRatio="none">
      <title>{summary}</title>
      {columns.map(({ href, title }, at) => (
        <a key={at} href={href} tabIndex={-1}>
          <title>{title}</title>
          <rect x={at * step} width={step} height="100%" />
        </a>
      ))}
      {lines.map(({ kind, points }, at) => (
        <Line key={kind} kind={kind} points={points} top={at * height} />
      ))}
    </svg>
  );
}

function Line({ kind, points, top }: ChartLine & { readonly top: number }) {
  const max = Math.max(0, ...points.map(({ value }) => value ?? 0));
  const y = (value: number): string =>
    (top + height - room - (max === 0 ? 0 : (value / max) * (height - 2 * room))).toFixed(1);
  let path = '';
  let isDrawing = false;
  for (const [at, { value }] of points.entries()) {
    // A single value between two gaps is drawn as a short line.
    if (value !== null) path += isDrawing ? `L${(at + 0.5) * step} ${y(value)}` : `M${at * step + 4} ${y(value)}h2`;
    isDrawing = value !== null;
  }
  return (
    <>
      <path class={`line-${kind}`} d={path} />
      <path class="line-gaps" d={gapMarks(points, top + height - 1)} />
    </>
  );
}

/** Returns the path of the marks of partial and unknown values, with one mark for consecutive ones. */
function gapMarks(points: readonly LinePoint[], y: number): string {
  const isMarked = (at: number): boolean => {
    const point = points[at];
    return point !== undefined && (point.value === null || point.isPartial);
  };
  let path = '';
  for (let at = 0; at < points.length; at += 1) {
    const start = at;
    while (isMarked(at)) at += 1;
    if (at > start) path += `M${start * step} ${y}h${(at - start) * step}`;
  }
  return path;
}
