/** One point of a line. The horizontal distance between two neighbouring points is constant. */
export interface LinePoint {
  /** Value of the point. A null value is unknown and interrupts the line. */
  readonly value: number | null;
  /** True if the value was observed only for part of its time. */
  readonly isPartial: boolean;
  /** True if the time of the point has events that are not part of its value. */
  readonly hasOthers?: boolean;
}

/** A line of a chart, drawn on its own scale. */
export interface ChartLine {
  /** Data that the line shows; used as its CSS class, which sets the colour. */
  readonly kind: 'weather' | 'labels';
  readonly points: readonly LinePoint[];
}

/** Content of a chart: lines with the same number of points, stacked vertically. */
export interface LinkedLineProps {
  readonly lines: readonly ChartLine[];
  /**
   * Link and text of each column of points, or null for a chart without links. The text is both the tooltip and the
   * accessible name.
   */
  readonly columns: readonly { readonly href: string; readonly title: string }[] | null;
  /** One-sentence description of the picture. */
  readonly summary: string;
}

/** Horizontal distance between two points, in units of the drawing. */
const step = 10;
/** Height of the area of one line, in units of the drawing. */
const height = 100;
/** Vertical margin within the area of one line, in units of the drawing. */
const room = 8;

/**
 * Draws lines that break where a value is unknown: no line crosses unobserved time, and an unknown value is never drawn
 * as 0. Each column may link to its file. The drawing has no text and fits the width of the page. The links are a row
 * of equal boxes that cover the drawing, because boxes need fewer bytes than shapes in the drawing.
 */
export function LinkedLines({ lines, columns, summary }: LinkedLineProps) {
  const width = (lines[0]?.points.length ?? 0) * step;
  return (
    <div class="lines">
      <svg viewBox={`0 0 ${width} ${lines.length * height}`} preserveAspectRatio="none">
        <title>{summary}</title>
        {lines.map(({ kind, points }, at) => (
          <Line key={kind} kind={kind} points={points} top={at * height} />
        ))}
      </svg>
      {columns === null ? null : (
        <div>
          {columns.map(({ href, title }, at) => (
            // biome-ignore lint/a11y/useAnchorContent: the label is the accessible name of the link, and its tooltip
            <a key={at} href={href} aria-label={title} tabIndex={-1} />
          ))}
        </div>
      )}
    </div>
  );
}

function Line({ kind, points, top }: ChartLine & { readonly top: number }) {
  return (
    <>
      <path class={`line-${kind}`} d={linePath(points, top)} />
      <path class="line-gaps" d={marks(points.map(isGap), top + height - 1)} />
      {points.some(hasOthers) ? <path class="line-others" d={marks(points.map(hasOthers), top + 1)} /> : null}
    </>
  );
}

/**
 * Returns the SVG path of the known values. After the first point of each piece, coordinates are relative, with one
 * decimal.
 */
function linePath(points: readonly LinePoint[], top: number): string {
  const max = Math.max(0, ...points.map(({ value }) => value ?? 0));
  const tenthsOf = (value: number): number =>
    Math.round(10 * (top + height - room - (max === 0 ? 0 : (value / max) * (height - 2 * room))));
  let path = '';
  let before: number | null = null;
  let isStart = false;
  for (const [at, { value }] of points.entries()) {
    const y: number | null = value === null ? null : tenthsOf(value);
    // Begin each piece with a short horizontal line, so that a single value between two gaps is visible.
    if (y !== null && before === null) path += `M${at * step + 4} ${y / 10}h2`;
    else if (y !== null && before !== null) path += `${isStart ? `l${step - 1}` : ` ${step}`}${signed(y - before)}`;
    isStart = y !== null && before === null;
    before = y;
  }
  return path;
}

/**
 * Formats a relative coordinate that follows another number. A negative number needs no space before its minus sign.
 */
function signed(tenths: number): string {
  return `${tenths < 0 ? '' : ' '}${tenths / 10}`;
}

function isGap({ value, isPartial }: LinePoint): boolean {
  return value === null || isPartial;
}

function hasOthers(point: LinePoint): boolean {
  return point.hasOthers === true;
}

/** Returns the SVG path of the marks for points. Consecutive points share one mark. */
function marks(isMarked: readonly boolean[], y: number): string {
  let path = '';
  let end = 0;
  for (let at = 0; at < isMarked.length; at += 1) {
    const start = at;
    while (isMarked[at] === true) at += 1;
    if (at === start) continue;
    path += path === '' ? `M${start * step} ${y}` : `m${(start - end) * step} 0`;
    path += `h${(at - start) * step}`;
    end = at;
  }
  return path;
}
