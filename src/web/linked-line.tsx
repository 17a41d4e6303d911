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
  /** Link and tooltip of each column of points, which is also its accessible name. */
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
 * as 0. Each column links to its file. The drawing has no text, and fits the width of the page. The links are a row of equal
 * boxes above it, which needs fewer bytes for each day than shapes of the drawing.
 */
export function LinkedLines({ lines, columns, summary }: LinkedLineProps) {
  const width = columns.length * step;
  return (
    <div class="lines">
      <svg viewBox={`0 0 ${width} ${lines.length * height}`} preserveAspectRatio="none">
        <title>{summary}</title>
        {lines.map(({ kind, points }, at) => (
          <Line key={kind} kind={kind} points={points} top={at * height} />
        ))}
      </svg>
      <div>
        {columns.map(({ href, title }, at) => (
          // biome-ignore lint/a11y/useAnchorContent: the label is the accessible name of the link, and its tooltip
          <a key={at} href={href} aria-label={title} tabIndex={-1} />
        ))}
      </div>
    </div>
  );
}

function Line({ kind, points, top }: ChartLine & { readonly top: number }) {
  return (
    <>
      <path class={`line-${kind}`} d={linePath(points, top)} />
      <path class="line-gaps" d={gapMarks(points, top + height - 1)} />
    </>
  );
}

/** Returns the path of the known values. Coordinates after the first point of a piece are relative, in tenths of a unit. */
function linePath(points: readonly LinePoint[], top: number): string {
  const max = Math.max(0, ...points.map(({ value }) => value ?? 0));
  const tenthsOf = (value: number): number =>
    Math.round(10 * (top + height - room - (max === 0 ? 0 : (value / max) * (height - 2 * room))));
  let path = '';
  let before: number | null = null;
  let isStart = false;
  for (const [at, { value }] of points.entries()) {
    const y: number | null = value === null ? null : tenthsOf(value);
    // A single value between two gaps is drawn as a short line, which ends one unit after its point.
    if (y !== null && before === null) path += `M${at * step + 4} ${y / 10}h2`;
    else if (y !== null && before !== null) path += `${isStart ? `l${step - 1}` : ` ${step}`}${signed(y - before)}`;
    isStart = y !== null && before === null;
    before = y;
  }
  return path;
}

/** Returns a relative coordinate that follows another number: a minus sign separates them too. */
function signed(tenths: number): string {
  return `${tenths < 0 ? '' : ' '}${tenths / 10}`;
}

/** Returns the path of the marks of partial and unknown values, with one mark for consecutive ones. */
function gapMarks(points: readonly LinePoint[], y: number): string {
  const isMarked = (at: number): boolean => {
    const point = points[at];
    return point !== undefined && (point.value === null || point.isPartial);
  };
  let path = '';
  let end = 0;
  for (let at = 0; at < points.length; at += 1) {
    const start = at;
    while (isMarked(at)) at += 1;
    if (at === start) continue;
    path += path === '' ? `M${start * step} ${y}` : `m${(start - end) * step} 0`;
    path += `h${(at - start) * step}`;
    end = at;
  }
  return path;
}
