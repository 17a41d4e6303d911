/**
 * Returns a top-level key that occurs twice in a JSON object; null if there is none. JSON parsers differ in which of
 * the two values they use, so two readers could interpret the same artifact differently. `JSON.parse` must already have
 * accepted the text.
 */
export function repeatedTopLevelKey(text: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1 && isKey) {
        const key: unknown = JSON.parse(text.slice(at, end));
        if (typeof key === 'string') {
          if (seen.has(key)) return key;
          seen.add(key);
        }
        isKey = false;
      }
      at = end - 1;
    } else if (character === '{') {
      depth++;
      isKey = depth === 1;
    } else if (character === '[') {
      depth++;
      // An array at the top level has no keys.
      if (depth === 1) return null;
    } else if (character === '}' || character === ']') depth--;
    else if (character === ',' && depth === 1) isKey = true;
  }
  return null;
}

/** Returns the index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
