/** An element that encloses text. */
interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A run of text with its enclosing elements, outermost first. */
interface TextRun {
  readonly text: string;
  readonly within: readonly Element[];
}

const token = /<!doctype[^>]*>|<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s=>/]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/gy;
const voids = new Set(['meta', 'link', 'br', 'input', 'hr', 'img']);

/**
 * Returns the text runs of a page. Accepts only the output of this service's renderer, which is well-formed and
 * double-quotes attributes. Throws on any other input, so that no text is missed.
 */
export function textsOf(html: string): TextRun[] {
  const open: Element[] = [];
  const texts: TextRun[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < html.length) {
    const at = token.lastIndex;
    const match = token.exec(html);
    if (!match) throw new Error(`the page contains invalid markup: ${html.slice(at, at + 60)}`);
    const [, closing, tag, attributes = '', selfClosing, text] = match;
    if (text !== undefined) texts.push({ text: unescaped(text), within: [...open] });
    if (tag === undefined) continue;
    if (closing) {
      if (open.pop()?.tag !== tag) throw new Error(`</${tag}> closes another element`);
    } else if (!selfClosing && !voids.has(tag)) open.push({ tag, attributes: attributesOf(attributes) });
  }
  if (open.length > 0) throw new Error('the page ends inside an element');
  return texts;
}

/**
 * Returns the text and the attribute value of each element that has the given attribute and contains text. Such
 * elements must not be nested.
 */
export function elementsWith(html: string, attribute: string): { value: string; element: Element; text: string }[] {
  const found = new Map<Element, string>();
  for (const { text, within } of textsOf(html)) {
    const element = within.find(({ attributes }) => Object.hasOwn(attributes, attribute));
    if (element) found.set(element, (found.get(element) ?? '') + text);
  }
  return [...found].map(([element, text]) => ({ value: element.attributes[attribute] ?? '', element, text }));
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([^\s=]+)(?:="([^"]*)")?/g)].map(([, name = '', value = '']) => [name, unescaped(value)]),
  );
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** A point of an SVG path. `isStart` is true if the point begins a new piece of the path. */
interface PathPoint {
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

/** Height of the plot of a chart, in units of its paths. */
export const plotHeight = 200;

/** Returns the function from a vertical position in a chart to a value, which the ticks of the chart determine. */
export function scaleOf(html: string): (y: number) => number {
  const ticks = [...html.matchAll(/<text x="-6" y="([\d.]+)%" dy="4">([\d.,]+)/g)].map(([, y, text = '']) => ({
    y: (Number(y) / 80) * plotHeight,
    value: Number(text.replaceAll(',', '')),
  }));
  const zero = ticks.find(({ value }) => value === 0);
  const top = ticks.at(-1);
  if (!zero || !top || top === zero) throw new Error('the axis has no ticks');
  return (y) => (top.value * (zero.y - y)) / (zero.y - top.y);
}
