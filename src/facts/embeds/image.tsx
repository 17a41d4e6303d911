import { createHash } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { HeaderList } from '../../http/reply.ts';

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

/**
 * Style of every image: dark text on a light plate, or the reverse in dark mode, so that the text is legible on any
 * page. All colour pairs have a contrast of at least 4.5 to 1. The style contains no character that XML must escape.
 */
export const embedStyle = [
  'text{font-family:Verdana,DejaVu Sans,Geneva,sans-serif}',
  '.paper{fill:#fdfdfb;stroke:#b9bdb8}.ink{fill:#1c2024}.soft{fill:#565d64}.strong{font-weight:700}',
  '.head{fill:#2b3238}.on-head{fill:#fff}',
  '.measured{fill:#0f6b5c}.on-measured{fill:#fff}',
  '.none{fill:#5c6064}.on-none{fill:#fff}',
  '.refused{fill:#7a1710}.on-refused{fill:#fff}',
  '.mark{fill:#fff1d6}.on-mark{fill:#5c3a00}',
  '.rail{fill:#e4e6e2}.bar{fill:#0f6b5c}.hatch{stroke:#6d6f72;stroke-width:3}.step{fill:#fdfdfb;stroke:#6d6f72}',
  '@media (prefers-color-scheme:dark){',
  '.paper{fill:#14171a;stroke:#4a5057}.ink{fill:#e7e9ea}.soft{fill:#a9b0b6}',
  '.head{fill:#333a41}',
  '.measured{fill:#58c4ae}.on-measured{fill:#0b1f1b}',
  '.none{fill:#8f959a}.on-none{fill:#101214}',
  '.refused{fill:#ffc9c4}.on-refused{fill:#40100c}',
  '.mark{fill:#3a2c0f}.on-mark{fill:#ffe0a3}',
  '.rail{fill:#2a2f34}.bar{fill:#58c4ae}.hatch{stroke:#8f959a}.step{fill:#14171a;stroke:#8f959a}',
  '}',
].join('');

/** Style of an image with a chart over time: the style of every image, and that of the chart's shapes. */
export const chartStyle = [
  embedStyle,
  '.plot-text{font-size:11px;fill:#565d64;stroke:#fdfdfb;stroke-width:3px;paint-order:stroke}',
  '.plot-grid,.plot-zero{fill:none;stroke:#d4d7d3;vector-effect:non-scaling-stroke}.plot-zero{stroke:#565d64}',
  '.plot-usual{fill:#0f6b5c;fill-opacity:.18}',
  '.line-weather,.line-labels{fill:none;stroke:#0f6b5c;stroke-width:2;stroke-linecap:round;vector-effect:non-scaling-stroke}',
  '.plot-observed{fill:#0f6b5c}.plot-up{stroke:#0f6b5c}.plot-down,.line-labels{stroke:#9a4a00}',
  '.plot-above,.plot-below{stroke:#9a4a00;stroke-width:7}.plot-below{stroke:#0b5394;stroke-dasharray:3 3}',
  '.plot-peak{fill:#fdfdfb;stroke:#1c2024;stroke-width:2px}.plot-peak-text{fill:#1c2024;font-weight:600}',
  '.plot-part{stroke-opacity:.5}.plot-apart{stroke:#565d64}',
  '.chart-unseen-paper{fill:#f3f4f0}.chart-hatch-line{fill:#6d6f72;fill-opacity:.55}',
  '@media (prefers-color-scheme:dark){',
  '.plot-text{fill:#a9b0b6;stroke:#14171a}.plot-grid{stroke:#3a4046}.plot-zero{stroke:#a9b0b6}',
  '.plot-usual,.plot-observed{fill:#58c4ae}.line-weather,.plot-up{stroke:#58c4ae}.plot-apart{stroke:#a9b0b6}',
  '.plot-down,.line-labels,.plot-above{stroke:#f0a860}.plot-below{stroke:#8cc0f5}',
  '.plot-peak{fill:#14171a;stroke:#e7e9ea}.plot-peak-text{fill:#e7e9ea}',
  '.chart-unseen-paper{fill:#1d2125}.chart-hatch-line{fill:#8f959a}',
  '}',
].join('');

/**
 * Headers of every image. The policy permits nothing except this style. Pages of any origin may embed the image, even
 * if they require cross-origin permission.
 */
export const embedHeaders: HeaderList = headersOf(embedStyle);

/** Headers of an image with a chart over time. */
export const chartHeaders: HeaderList = headersOf(chartStyle);

function headersOf(style: string): HeaderList {
  const hash = createHash('sha256').update(style).digest('base64');
  return [
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; sandbox`,
    'Cross-Origin-Resource-Policy',
    'cross-origin',
    'Referrer-Policy',
    'no-referrer',
  ];
}
