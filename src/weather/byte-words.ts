/** A closed list of ASCII words that are recognised among bytes, without making a string. */
export interface ByteWords {
  /** The word's place in the list for `bytes[from, to)`, or -1. */
  find(bytes: Uint8Array, from: number, to: number): number;
}

interface Word {
  readonly bytes: Uint8Array;
  readonly place: number;
}

const noWords: readonly Word[] = [];

/** Words by their length: hardly ever do two known words of one length have to be compared. */
export function byteWords(words: readonly string[]): ByteWords {
  const byLength: (readonly Word[])[] = [];
  const longest = Math.max(...words.map((word) => word.length));
  for (let length = 0; length <= longest; length += 1) {
    byLength.push(
      words.flatMap((word, place) =>
        word.length === length ? [{ bytes: Uint8Array.from(Buffer.from(word)), place }] : [],
      ),
    );
  }

  return {
    find(bytes, from, to) {
      const length = to - from;
      if (length > longest) return -1;
      const candidates = byLength[length] ?? noWords;
      for (let c = 0; c < candidates.length; c += 1) {
        const word = candidates[c];
        if (word !== undefined && endsAlike(word.bytes, bytes, from, length)) return word.place;
      }
      return -1;
    },
  };
}

/** From the end: NSIDs of one length differ in their last letters. */
function endsAlike(word: Uint8Array, bytes: Uint8Array, from: number, length: number): boolean {
  for (let i = length - 1; i >= 0; i -= 1) {
    if (word[i] !== bytes[from + i]) return false;
  }
  return true;
}
