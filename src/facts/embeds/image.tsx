import { createHash } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Origin } from '../../contract/vocabulary.ts';
import type { HeaderList } from '../../http/reply.ts';
import { Hatched } from '../../web/shapes.tsx';

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
      class={paint}
      font-weight={isStrong ? 700 : 400}
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

const lightStyle = [
  'text{font-family:Verdana,DejaVu Sans,Geneva,sans-serif}',
  '.paper{fill:#fdfdfb;stroke:#b9bdb8}.ink{fill:#1c2024;stroke:none}.soft{fill:#565d64;stroke:none}',
  '.head{fill:#2b3238;stroke:none}.on-head{fill:#fff;stroke:none}',
  '.measured{fill:#0f6b5c;stroke:none}.on-measured{fill:#fff;stroke:none}',
  '.absent{fill:#5c6064;stroke:none}.on-absent{fill:#fff;stroke:none}',
  '.refused{fill:#7a1710;stroke:none}.on-refused{fill:#fff;stroke:none}',
  '.mark{fill:#fff1d6;stroke:none}.on-mark{fill:#5c3a00;stroke:none}',
  '.rail{fill:#e4e6e2;stroke:none}.bar{fill:#0f6b5c;stroke:none}.hatch{fill:none;stroke:#6d6f72;stroke-width:3}.step{fill:#fdfdfb;stroke:#6d6f72}',
].join('');

const darkStyle = [
  '.paper{fill:#14171a;stroke:#4a5057}.ink{fill:#e7e9ea}.soft{fill:#a9b0b6}',
  '.head{fill:#333a41}',
  '.measured{fill:#58c4ae}.on-measured{fill:#0b1f1b}',
  '.absent{fill:#8f959a}.on-absent{fill:#101214}',
  '.refused{fill:#ffc9c4}.on-refused{fill:#40100c}',
  '.mark{fill:#3a2c0f}.on-mark{fill:#ffe0a3}',
  '.rail{fill:#2a2f34}.bar{fill:#58c4ae}.hatch{stroke:#8f959a}.step{fill:#14171a;stroke:#8f959a}',
].join('');

/**
 * Style of every image: dark text on a light plate, or the reverse in dark mode, so that the text is legible on any
 * page. All colour pairs have a contrast of at least 4.5 to 1. The style contains no character that XML must escape. No
 * class is named `none`: ImageMagick would take `fill:none` for a use of that class.
 */
export const embedStyle = styleOf(lightStyle, darkStyle);

/** Returns a style whose rules for dark mode are at its end: some viewers do not understand what follows them. */
function styleOf(light: string, dark: string): string {
  return `${light}@media (prefers-color-scheme:dark){${dark}}`;
}

/** Colours of a chart's shapes in light and dark mode: the property, the colours, and other properties of the class. */
const chartPaints: readonly (readonly [
  name: string,
  property: 'fill' | 'stroke',
  light: string,
  dark: string,
  rest?: string,
])[] = [
  ['plot-text', 'fill', '#565d64', '#a9b0b6', 'stroke:none'],
  ['plot-peak-text', 'fill', '#1c2024', '#e7e9ea', 'stroke:none;font-weight:700'],
  ['plot-halo', 'stroke', '#fdfdfb', '#14171a', 'stroke-width:3'],
  ['plot-grid', 'stroke', '#d4d7d3', '#3a4046', 'fill:none;stroke-linecap:butt;stroke-width:1.5'],
  ['plot-zero', 'stroke', '#565d64', '#a9b0b6', 'fill:none;stroke-linecap:butt;stroke-width:1.5'],
  ['plot-usual', 'fill', '#d3e4df', '#22403b', 'stroke:none'],
  ['line-weather', 'stroke', '#0f6b5c', '#58c4ae', 'fill:none;stroke-linecap:butt;stroke-width:3'],
  ['line-labels', 'stroke', '#9a4a00', '#f0a860', 'fill:none;stroke-linecap:butt;stroke-width:3'],
  ['plot-observed', 'fill', '#0f6b5c', '#58c4ae', 'stroke:none'],
  ['plot-up', 'fill', '#0f6b5c', '#58c4ae', 'stroke:none'],
  ['plot-down', 'fill', '#9a4a00', '#f0a860', 'stroke:none'],
  ['plot-up-part', 'fill', '#86b4ac', '#366e64', 'stroke:none'],
  ['plot-down-part', 'fill', '#cca47e', '#82603d', 'stroke:none'],
  ['plot-apart', 'fill', '#565d64', '#a9b0b6', 'stroke:none'],
  ['plot-above', 'stroke', '#9a4a00', '#f0a860', 'fill:none;stroke-linecap:butt;stroke-width:9'],
  ['plot-below', 'stroke', '#0b5394', '#8cc0f5', 'fill:none;stroke-linecap:butt;stroke-width:9;stroke-dasharray:4,4'],
  ['plot-peak', 'stroke', '#1c2024', '#e7e9ea', 'fill:none;stroke-linecap:butt;stroke-width:2'],
  ['chart-unseen-paper', 'fill', '#f3f4f0', '#1d2125', 'stroke:none'],
  ['plot-hatch', 'stroke', '#a9abae', '#62676c', 'fill:none;stroke-linecap:butt;stroke-width:3'],
];

/** Style of an image with a chart over time. Each class has a rule of its own, because some viewers read no others. */
export const chartStyle = styleOf(
  [
    lightStyle,
    ...chartPaints.map(([name, property, light, , rest]) => `.${name}{${property}:${light}${rest ? `;${rest}` : ''}}`),
  ].join(''),
  [darkStyle, ...chartPaints.map(([name, property, , dark]) => `.${name}{${property}:${dark}}`)].join(''),
);

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

/** Width of the images of charts, in units of the drawing. */
const plateWidth = 640;
/** Left margin of the content of a chart's image, and its width inside the margins. */
export const plateArea = { left: 16, width: plateWidth - 32, right: plateWidth - 16 } as const;

/** Content of the image of a chart. */
interface PlateParts extends Pick<ImageParts, 'title' | 'description' | 'style' | 'height' | 'children'> {
  readonly origin: Origin;
}

/** Renders the image of a chart: its title on a bar, which marks an origin other than `live`, and the content below. */
export function renderPlate({ origin, height, children, ...texts }: PlateParts): string {
  const isLive = origin === 'live';
  return renderImage({
    ...texts,
    width: plateWidth,
    height,
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={plateWidth - 1} height={height - 1} rx="4" />
        <rect class={isLive ? 'head' : 'mark'} x="1" y="1" width={plateWidth - 2} height="29" />
        <Line x={plateArea.left} y={20} size={13} paint={isLive ? 'on-head' : 'on-mark'} isStrong>
          {texts.title}
        </Line>
        {children}
      </>
    ),
  });
}

/** Draws a hatched plate with the reason in place of a refused fact or of a fact without current data. */
export function Plate({
  text,
  paint,
  y,
  height,
}: {
  text: string;
  paint: 'absent' | 'refused';
  y: number;
  height: number;
}) {
  const width = textWidth(text, 12, true) + 20;
  return (
    <>
      <Hatched x={plateArea.left} y={y} width={plateArea.width} height={height} />
      <rect class={paint} x={plateArea.left + 8} y={y + height / 2 - 11} width={width} height="22" rx="3" />
      <Line x={plateArea.left + 18} y={y + height / 2 + 4} size={12} paint={`on-${paint}`} isStrong>
        {text}
      </Line>
    </>
  );
}
