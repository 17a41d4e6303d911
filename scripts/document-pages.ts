import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/main/command.ts';

/** A document in `docs/` that the service serves as a page. */
interface DocumentPage {
  /** File name of the document in `docs/`. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
  /**
   * Path of the page's directory relative to the base address, with a trailing slash. Empty for the base address
   * itself.
   */
  readonly directory?: string;
  /** Additional style sheet of the page. */
  readonly style?: string;
}

/** Document of the page at `/policy`. */
export const policyPage: DocumentPage = {
  file: 'compatibility.md',
  title: 'Almanac: compatibility',
  description: 'What clients of this service may rely on, what may change, and how changes are announced.',
};

/** Document of the page at `/for-labelers`. The server replaces `{user-agent}` and `{contact}`. */
export const forLabelersPage: DocumentPage = {
  file: 'for-labelers.md',
  title: 'Almanac: for operators of labelers',
  description: 'Requests that labelers receive, data that is kept, and how to ask for a change.',
};

/** Documents of the pages at `/method/weather` and `/method/labels`. */
export const methodPages = {
  weather: {
    file: 'method/weather.md',
    title: 'Almanac: how the weather is measured',
    description: 'Sources, windows, history and thresholds of the weather, its words, and what it does not measure.',
    directory: 'method/',
    style: 'docs.css',
  },
  labels: {
    file: 'method/labels.md',
    title: 'Almanac: how labels are counted',
    description: 'Sources, windows, states, gaps and coverage of the labels, and what they do not show.',
    directory: 'method/',
    style: 'docs.css',
  },
} as const satisfies Record<string, DocumentPage>;

/** Links of the pages' navigation, with their texts. */
const navigation = [
  ['labelers', 'Labelers'],
  ['docs', 'API'],
  ['method/weather', 'Method'],
  ['policy', 'Policy'],
  ['for-labelers', 'For labelers'],
] as const;

/** Renders a document in `docs/` as an HTML page. Throws if it contains Markdown that is not supported. */
export function documentPage(page: DocumentPage): string {
  return renderedPage(page, readFileSync(join(packageRoot(), 'docs', page.file), 'utf8'));
}

/** Renders Markdown as an HTML page. Throws if it contains Markdown that is not supported. */
export function renderedPage(
  { file, title, description, directory = '', style }: DocumentPage,
  markdown: string,
): string {
  const up = directory.replaceAll(/[^/]+\//g, '../');
  const links = navigation.map(([path, text]) => `<a href="${up}${path}">${text}</a>`).join(' ');
  const styles = ['almanac.css', ...(style === undefined ? [] : [style])]
    .map((name) => `<link rel="stylesheet" href="${up}assets/${name}">`)
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site"><nav aria-label="Site"><a class="name" href="${up === '' ? './' : up}">Almanac</a> ${links}</nav></header>
<main id="main"${style === undefined ? '' : ' class="reference"'}>
${blocks(file, markdown, style !== undefined)}
</main>
</body>
</html>
`;
}

/**
 * Renders the subset of Markdown that these documents use. Throws for any other Markdown. Headings and rows have
 * anchors only if `isCited` is true, because other pages link only to parts of the method pages.
 */
function blocks(file: string, markdown: string, isCited: boolean): string {
  let section = '';
  return markdown
    .trim()
    .split(/\n\n+/)
    .map((block) => {
      const [first = ''] = block.split('\n');
      const heading = /^(#{1,3}) (.+)$/.exec(block);
      if (heading?.[1] && heading[2]) {
        const id = slug(heading[2]);
        if (heading[1].length === 2) section = id;
        const anchor = isCited ? ` id="${id}"` : '';
        return `<h${heading[1].length}${anchor}>${inline(heading[2])}</h${heading[1].length}>`;
      }
      if (first.startsWith('|')) return table(block.split('\n'), isCited ? section : null);
      if (first.startsWith('- ')) return tag('ul', items(block, /^- /m));
      if (first.startsWith('1. ')) return tag('ol', items(block, /^\d\. /m));
      if (/^[#>|!<]|^```|^ {4}/.test(first)) throw new Error(`docs/${file}: cannot render: ${first}`);
      return tag('p', inline(block));
    })
    .join('\n');
}

function items(block: string, mark: RegExp): string {
  const texts = block.split(new RegExp(mark.source, 'gm')).filter((text) => text !== '');
  return `\n${texts.map((text) => tag('li', inline(text.trim()))).join('\n')}\n`;
}

/**
 * Renders a table. A row that begins with a word in code gets an anchor made of its section and that word, unless the
 * section is null.
 */
function table(lines: readonly string[], section: string | null): string {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const heads = head.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
  const body = rows.map((cells) => {
    const word = /^`([a-z_]+)`$/.exec(cells[0] ?? '')?.[1];
    const start = word === undefined || section === null ? '<tr>' : `<tr id="${section}-${word}">`;
    return `${start}${cells.map((cell) => tag('td', inline(cell))).join('')}</tr>`;
  });
  return `<table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>`;
}

/** Returns the identifier of a heading. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/**
 * Renders code, bold text and links to pages of the same directory, escapes HTML, and joins the lines of a paragraph.
 * Throws for other links.
 */
function inline(text: string): string {
  const escaped = text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  const linked = escaped.replaceAll(/\[([^\]]+)\]\(([a-z-]+)\.md\)/g, '<a href="$2">$1</a>');
  if (/\]\(/.test(linked)) throw new Error(`cannot render a link: ${text}`);
  return linked.replaceAll(/`([^`]+)`/g, '<code>$1</code>').replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
