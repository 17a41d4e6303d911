/** A period, in milliseconds since 1970: start inclusive, end exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A drawn part of a timeline, with its position in units of the drawing. */
export interface Drawn<K extends string> {
  readonly kind: K;
  readonly from: number;
  readonly to: number;
}

/** Width of the drawing of a timeline, in units of the drawing. */
export const timelineWidth = 1000;

/** Minimum width of a part in units of the drawing, which keeps narrow parts visible. */
const minWidth = 6;

/**
 * Lays out a window and its parts for drawing. Time outside the parts is drawn as `rest`, never over a part. A narrow
 * part is widened into the rest, so the drawing may overstate a gap but never hides one. Empty parts are omitted. Parts
 * may overlap.
 */
export function layTimeline<K extends string>(
  window: Stretch,
  parts: readonly (Stretch & { readonly kind: K })[],
): { readonly parts: readonly Drawn<K>[]; readonly rest: readonly Drawn<'rest'>[] } {
  const length = window.end - window.start;
  if (!(length > 0)) return { parts: [], rest: [] };
  const place = (at: number): number => ((at - window.start) / length) * timelineWidth;
  const drawn = parts
    .filter(({ start, end }) => start < end && start < window.end && end > window.start)
    .map(({ kind, start, end }) => ({ kind, ...widened(place(start), place(end)) }))
    .toSorted((a, b) => a.from - b.from);
  const rest: Drawn<'rest'>[] = [];
  let covered = 0;
  for (const { from, to } of drawn) {
    if (from > covered) rest.push({ kind: 'rest', from: covered, to: from });
    covered = Math.max(covered, to);
  }
  if (covered < timelineWidth) rest.push({ kind: 'rest', from: covered, to: timelineWidth });
  return { parts: drawn, rest };
}

function widened(start: number, end: number): { from: number; to: number } {
  const from = Math.max(0, start);
  const to = Math.min(timelineWidth, end);
  if (to - from >= minWidth) return { from, to };
  const middle = Math.min(timelineWidth - minWidth / 2, Math.max(minWidth / 2, (from + to) / 2));
  return { from: middle - minWidth / 2, to: middle + minWidth / 2 };
}
