import { createHash } from 'node:crypto';
import type { HeaderList } from '../../http/headers.ts';

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
  '.plot-part{stroke-opacity:.5}.plot-apart{stroke:#565d64}',
  '.chart-unseen-paper{fill:#f3f4f0}.chart-hatch-line{fill:#6d6f72;fill-opacity:.55}',
  '@media (prefers-color-scheme:dark){',
  '.plot-text{fill:#a9b0b6;stroke:#14171a}.plot-grid{stroke:#3a4046}.plot-zero{stroke:#a9b0b6}',
  '.plot-usual,.plot-observed{fill:#58c4ae}.line-weather,.plot-up{stroke:#58c4ae}.plot-apart{stroke:#a9b0b6}',
  '.plot-down,.line-labels{stroke:#f0a860}',
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
