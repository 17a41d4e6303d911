/** An element that encloses text. */
export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A run of text with its enclosing elements, outermost first. */
export interface TextRun {
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
