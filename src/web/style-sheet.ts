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
