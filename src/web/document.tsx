import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { withoutControls } from './foreign.tsx';
import { PageBody, type PageParts } from './page-body.tsx';

/**
 * Renders a complete HTML page. All text is escaped. The page contains no raw control characters, and no inline styles
 * or scripts, which the Content Security Policy forbids. It is readable without a style sheet.
 */
export function renderPage(parts: PageParts): string {
  return withoutControls(`<!doctype html>${renderToString(<Page {...parts} />)}`);
}

/** Renders a part of a page. The guarantees of `renderPage` apply. */
export function renderPart(node: VNode): string {
  return withoutControls(renderToString(node));
}

function Page(parts: PageParts) {
  const { title, description, base, indexed, scripts = [], styles = [], language = 'en' } = parts;
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {indexed ? null : <meta name="robots" content="noindex, nofollow" />}
        {description === undefined ? null : <meta name="description" content={description} />}
        <title>{title}</title>
        {parts.card === undefined ? null : <Card parts={parts} card={parts.card} />}
        <link rel="icon" href="data:," />
        {['/assets/almanac.css', ...styles].map((style) => (
          <link key={style} rel="stylesheet" href={`${base}${style}`} />
        ))}
        {scripts.map((script) => (
          <script key={script} src={`${base}${script}`} type="module" />
        ))}
      </head>
      <body>
        <PageBody {...parts} />
      </body>
    </html>
  );
}

function Card({ parts: { title, description }, card }: { parts: PageParts; card: NonNullable<PageParts['card']> }) {
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      {description === undefined ? null : <meta property="og:description" content={description} />}
      <meta property="og:url" content={card.url} />
      <meta property="og:image" content={card.image} />
      <meta property="og:image:type" content="image/png" />
      <meta property="og:image:width" content={String(card.width)} />
      <meta property="og:image:height" content={String(card.height)} />
      <meta property="og:image:alt" content={card.imageText} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}

/**
 * Returns a style sheet without comments, optional white space and redundant characters, which are a fifth of its
 * bytes. The function does not preserve white space within strings, but the style sheets of this package contain no
 * strings.
 */
export function compactStyles(css: Buffer): Buffer {
  const text = String(css)
    .replaceAll(/\/\*.*?\*\//gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
    .replaceAll(/(?<![\d.])0\.(?=\d)/g, '.');
  return Buffer.from(text.trim());
}
