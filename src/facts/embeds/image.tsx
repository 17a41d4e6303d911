import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { embedStyle } from './style.ts';

/** Content of an image. */
interface ImageParts {
  readonly width: number;
  readonly height: number;
  /** Message of the image in one line, for screen readers. */
  readonly title: string;
  /** All texts of the image, for screen readers. */
  readonly description: string;
  /** Style of the image; by default that of every image. The headers of the response permit only this style. */
  readonly style?: string;
  readonly children: ComponentChildren;
}

/** Content type of the images. */
export const svgType = 'image/svg+xml; charset=utf-8';

/** Renders a complete SVG document. It contains no scripts, links or references to other documents. */
export function renderImage({ width, height, title, description, style = embedStyle, children }: ImageParts): string {
  return renderToString(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-labelledby="title description"
    >
      <title id="title">{title}</title>
      <desc id="description">{description}</desc>
      <style>{style}</style>
      <defs>
        <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line class="hatch" x1="1.5" y1="0" x2="1.5" y2="8" />
        </pattern>
      </defs>
      {children}
    </svg>,
  );
}

/** Properties of a line of text. */
interface LineProps {
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly paint?: string;
  readonly isStrong?: boolean;
  readonly anchor?: 'start' | 'end';
  readonly children: string;
}

/** Draws a line of text. The text is fitted to its estimated width, whatever font the viewer has. */
export function Line({ x, y, size = 11, paint = 'ink', isStrong = false, anchor = 'start', children }: LineProps) {
  return (
    <text
      class={isStrong ? `${paint} strong` : paint}
      x={x}
      y={y}
      font-size={size}
      text-anchor={anchor}
      textLength={textWidth(children, size, isStrong)}
      lengthAdjust="spacingAndGlyphs"
    >
      {children}
    </text>
  );
}

/** Draws a hatched area in place of values that were not observed or must not be shown. */
export function Hatched({ x, y, width, height }: { x: number; y: number; width: number; height: number }) {
  return (
    <>
      <rect class="rail" x={x} y={y} width={width} height={height} />
      <rect fill="url(#hatch)" x={x} y={y} width={width} height={height} />
    </>
  );
}

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
