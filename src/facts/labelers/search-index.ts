/** Separator of the joined strings. A search text with a line feed matches nothing, so no match spans two strings. */
const separator = '\n';

/**
 * Search index of strings. The strings are joined, because one search of a long string is faster than many short
 * searches.
 */
export interface SearchIndex {
  /** Returns 1 for each string that contains the search text, and 0 for every other string. */
  matches(wanted: string): Uint8Array;
}

/** Creates the index of strings. A string may consist of several lines, each of which is searched. */
export function indexTexts(texts: readonly string[]): SearchIndex {
  const joined = texts.map((text) => `${text}${separator}`).join('');
  const ends = new Uint32Array(texts.length);
  texts.reduce((at, text, index) => {
    ends[index] = at + text.length + separator.length;
    return at + text.length + separator.length;
  }, 0);
  return {
    matches(wanted) {
      const found = new Uint8Array(texts.length);
      if (wanted.includes(separator)) return found;
      let index = 0;
      for (let at = joined.indexOf(wanted); at >= 0 && index < ends.length; ) {
        while ((ends[index] ?? Number.POSITIVE_INFINITY) <= at) index += 1;
        if (index >= ends.length) break;
        found[index] = 1;
        // Continue after this string, because one match per string suffices.
        at = joined.indexOf(wanted, ends[index]);
      }
      return found;
    },
  };
}
