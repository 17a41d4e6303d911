/** A point of an SVG path. `isStart` is true if the point begins a new piece of the path. */
export interface PathPoint {
  readonly x: number;
  readonly y: number;
  readonly isStart: boolean;
}

/** Returns the points of an SVG path. Throws if the path uses a command other than `M`, `m`, `l`, `h`, `v` and `Z`. */
export function pathPoints(d: string): PathPoint[] {
  const points: PathPoint[] = [];
  let [x, y] = [0, 0];
  for (const [, command = '', text = ''] of d.matchAll(/([a-zA-Z])([^a-zA-Z]*)/g)) {
    const numbers = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
    const pairs =
      command === 'h' || command === 'v'
        ? numbers.map((length) => (command === 'h' ? [length, 0] : [0, length]))
        : numbers.flatMap((one, at) => (at % 2 === 0 ? [[one, numbers[at + 1] ?? Number.NaN]] : []));
    for (const [first = Number.NaN, second = Number.NaN] of pairs) {
      if (!'MmlhvZ'.includes(command)) throw new Error(`unsupported path command ${command}`);
      [x, y] = command === 'M' ? [first, second] : [rounded(x + first), rounded(y + second)];
      points.push({ x, y, isStart: command.toLowerCase() === 'm' });
    }
  }
  return points;
}

/** Removes the binary rounding error of a sum of coordinates, which have few decimals. */
function rounded(coordinate: number): number {
  return Number(coordinate.toFixed(3));
}
