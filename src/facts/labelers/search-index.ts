/** Separator of two texts. A search text with a line feed matches nothing, so that no match spans two texts. */
const separator = '\n';

/** Texts that are joined into one, because one search of a long text is faster than a search of each short one. */
export interface SearchIndex {
  /** Returns, for each text, 1 if it contains the search text and otherwise 0. */
  matches(wanted: string): Uint8Array;
}

/** Creates the index of texts. A text may consist of several lines, each of which is searched. */
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
        // Continue after this text, because one match suffices.
        at = joined.indexOf(wanted, ends[index]);
      }
      return found;
    },
  };
}
