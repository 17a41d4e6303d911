import { renderToString } from 'preact-render-to-string';
import { withoutControls } from './foreign.tsx';
import { PageBody, type PageParts } from './page-body.tsx';

/**
 * A whole HTML page: text is escaped by the renderer, nothing is inline (the policy of the servers allows neither
 * inline styles nor inline scripts), it reads in order without a style sheet, and it holds no raw control character.
 */
export function renderPage(parts: PageParts): string {
  return withoutControls(`<!doctype html>${renderToString(<Page {...parts} />)}`);
}

function Page(parts: PageParts) {
  const { title, description, base, indexed, scripts = [], styles = [] } = parts;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {indexed ? null : <meta name="robots" content="noindex, nofollow" />}
        {description === undefined ? null : <meta name="description" content={description} />}
        <title>{title}</title>
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
