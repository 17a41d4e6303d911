/**
 * Shows a fraction (0 to 1) as a bar, and a second one after it in another colour. Screen readers skip the bar, because
 * the numbers are next to it as text.
 */
export function Bar({ share, rest = 0 }: { share: number; rest?: number }) {
  const width = percent(Math.min(1, Math.max(0, share)) * 100);
  return (
    <svg class="bar" aria-hidden="true">
      <rect width={width} height="100%" />
      {rest > 0 ? <rect class="rest" x={width} width={percent(rest * 100)} height="100%" /> : null}
    </svg>
  );
}

/** Formats a length as a percentage, for the width or height of a part of a picture. */
export function percent(length: number): string {
  return `${Number(length.toFixed(3))}%`;
}

/** Defines the hatching pattern for unobserved time, for the `defs` element of an SVG image. */
export function HatchPattern({ id }: { id: string }) {
  return (
    <pattern id={id} width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="chart-hatch-line" width="3" height="8" />
    </pattern>
  );
}

/** A rectangle of an image. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Distance of the lines of a hatched area along its edge. */
const hatchStep = 11;

/** Returns parallel lines that fill an area and end at its edges. */
function hatchOf({ x, y: top, width, height: whole }: Area): string {
  // The ends of the lines are wider than the lines are high.
  const [y, height] = [top + 1, Math.max(0, whole - 2)];
  let path = '';
  for (let at = hatchStep - height; at < width; at += hatchStep) {
    const [from, to] = [Math.max(0, at), Math.min(width, at + height)];
    if (to <= from) continue;
    path += `M${tenths(x + from)},${tenths(y + height - (from - at))}L${tenths(x + to)},${tenths(y + height - (to - at))}`;
  }
  return path;
}

/** Rounds a coordinate to a tenth of a unit. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Draws a hatched area of an image in place of values that were not observed or must not be shown. The style of the
 * image must define both classes.
 */
export function Hatched({ paper = 'rail', hatch = 'hatch', ...area }: Area & { paper?: string; hatch?: string }) {
  const { x, y, width, height } = area;
  return (
    <>
      <rect class={paper} x={tenths(x)} y={tenths(y)} width={tenths(width)} height={tenths(height)} />
      <path class={hatch} d={hatchOf(area)} />
    </>
  );
}
