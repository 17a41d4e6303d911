import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/main/command.ts';

/** A document of `docs/` that the service serves as a page. */
interface DocumentPage {
  /** File name of the document in `docs/`. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
}

/** Document of the page at `/policy`. */
export const policyPage: DocumentPage = {
  file: 'compatibility.md',
  title: 'Almanac: compatibility',
  description: 'What clients of this service may rely on, what may change, and how changes are announced.',
};

/** Document of the page at `/for-labelers`; the server replaces `{user-agent}` and `{contact}`. */
export const forLabelersPage: DocumentPage = {
  file: 'for-labelers.md',
  title: 'Almanac: for operators of labelers',
  description:
    'Which requests a labeler receives from this service, which data the service keeps, and how to ask for a change.',
};

/** Renders a document as an HTML page. Throws on Markdown that it cannot render. */
export function documentPage({ file, title, description }: DocumentPage): string {
  const markdown = readFileSync(join(packageRoot(), 'docs', file), 'utf8');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/almanac.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><nav aria-label="Site"><a class="name" href="./">Almanac</a> <a href="docs">API reference</a> <a href="openapi.json">OpenAPI</a> <a href="llms.txt">llms.txt</a></nav></header>
<main id="main">
${blocks(file, markdown)}
</main>
</body>
</html>
`;
}

/** Renders the subset of Markdown that these documents use. Throws on any other Markdown. */
function blocks(file: string, markdown: string): string {
  return markdown
    .trim()
    .split(/\n\n+/)
    .map((block) => {
      const [first = ''] = block.split('\n');
      const heading = /^(#{1,2}) (.+)$/.exec(block);
      if (heading?.[1] && heading[2]) return tag(`h${heading[1].length}`, inline(heading[2]));
      if (first.startsWith('|')) return table(block.split('\n'));
      if (first.startsWith('- ')) return tag('ul', items(block, /^- /m));
      if (first.startsWith('1. ')) return tag('ol', items(block, /^\d\. /m));
      if (/^[#>|`!<]|^ {4}/.test(first)) throw new Error(`docs/${file}: cannot render: ${first}`);
      return tag('p', inline(block));
    })
    .join('\n');
}

function items(block: string, mark: RegExp): string {
  const texts = block.split(new RegExp(mark.source, 'gm')).filter((text) => text !== '');
  return `\n${texts.map((text) => tag('li', inline(text.trim()))).join('\n')}\n`;
}

function table(lines: readonly string[]): string {
  const [head = '', , ...rows] = lines;
  const cells = (line: string, name: string): string =>
    tag(
      'tr',
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => tag(name, inline(cell.trim())))
        .join(''),
    );
  const body = rows.map((row) => cells(row, 'td')).join('\n');
  return `<table>\n<thead>${cells(head, 'th')}</thead>\n<tbody>\n${body}\n</tbody>\n</table>`;
}

/** Renders code and bold text, and joins the lines of a paragraph. Throws on links. */
function inline(text: string): string {
  const escaped = text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  if (/\]\(/.test(escaped)) throw new Error(`cannot render a link: ${text}`);
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>').replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
