/** A stretch of time, in milliseconds since 1970: start inclusive, end exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A stretch of a timeline, as it is drawn: from and to in units of the drawing. */
export interface Drawn<K extends string> {
  readonly kind: K;
  readonly from: number;
  readonly to: number;
}

/** Width of a timeline's drawing, in its own units. */
export const timelineWidth = 1000;

/** Minimum width of a stretch, to keep narrow ones visible. */
const leastWidth = 6;

/**
 * Lays a window and what is known of its parts out for drawing. What is not covered by any part is `rest`, and the
 * rest is never drawn over a part: a narrow part is widened at the cost of the rest, so that a break is overstated
 * and never hidden. A part of no length is left out; parts may overlap.
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
  if (to - from >= leastWidth) return { from, to };
  const middle = Math.min(timelineWidth - leastWidth / 2, Math.max(leastWidth / 2, (from + to) / 2));
  return { from: middle - leastWidth / 2, to: middle + leastWidth / 2 };
}
