/**
 * Widths of characters in Verdana as fractions of the font size, rounded up to classes. The viewer's font is unknown,
 * so the images fit each text into its estimated width with `textLength`.
 */
const classes: readonly (readonly [RegExp, number])[] = [
  [/[ijlI.,:;|!'’·]/, 0.42],
  [/[ \u00a0frt()[\]/-]/, 0.45],
  [/[mwMWQ%@]/, 1.02],
  [/[A-Z+=<>]/, 0.79],
];
const other = 0.64;
const boldFactor = 1.13;

/** Returns the estimated width of a line of text, in units of the drawing. */
export function textWidth(text: string, size: number, isBold = false): number {
  const widths = [...text].map((character) => classes.find(([pattern]) => pattern.test(character))?.[1] ?? other);
  const sum = widths.reduce((total, width) => total + width, 0);
  return Math.ceil(sum * size * (isBold ? boldFactor : 1));
}
