/** A closed list of ASCII words that can be found in a byte array without creating strings. */
export interface ByteWords {
  /**
   * Bit set of word lengths: bit n is set if any word has n characters, and bit 31 if any word has 31 or more. The
   * length alone excludes most strings.
   */
  readonly lengths: number;
  /** Returns the list index of the word that equals the bytes `[from, to)`, or -1 if there is none. */
  find(bytes: DataView, from: number, to: number): number;
}

interface Word {
  readonly place: number;
  /**
   * The word in pieces of four bytes. If its length is not a multiple of four, the last piece overlaps the previous
   * one.
   */
  readonly pieces: Int32Array;
}

/** Mask that keeps the three bytes of a three-byte word. */
const threeBytes = 0xffffff;

/** Number of bytes compared in one step. */
const piece = 4;

const noWords: readonly Word[] = [];

/**
 * Creates a list of words. The words are grouped by length, so that few of them have to be compared. Throws a
 * RangeError if a word has fewer than three characters.
 */
export function byteWords(words: readonly string[]): ByteWords {
  const byLength = Array.from({ length: Math.max(...words.map((word) => word.length)) + 1 }, (_, length) =>
    words.flatMap((word, place) => (word.length === length ? [{ place, pieces: piecesOf(word) }] : [])),
  );

  return {
    lengths: words.reduce((bits, { length }) => bits | lengthBit(length), 0),
    find(bytes, from, to) {
      const candidates = byLength[to - from] ?? noWords;
      for (let c = 0; c < candidates.length; c += 1) {
        const word = candidates[c];
        if (word === undefined) continue;
        if (to - from === 3) {
          if ((bytes.getInt32(from, true) & threeBytes) === word.pieces[0]) return word.place;
        } else if (holds(bytes, from, to, word.pieces)) return word.place;
      }
      return -1;
    },
  };
}

/** Returns the bit of `lengths` that represents a length. */
export function lengthBit(length: number): number {
  return 1 << Math.min(length, 31);
}

/** An exact byte sequence that can be compared at an index. The view must extend `length` bytes beyond the index. */
export interface Spelling {
  readonly length: number;
  /** The last four bytes. They are compared first, because they differ most often. */
  readonly last: number;
  readonly pieces: Int32Array;
}

/** Creates the spelling of an ASCII text of at least four characters. */
export function spelling(text: string): Spelling {
  const pieces = piecesOf(text);
  return { length: text.length, last: pieces[pieces.length - 1] ?? 0, pieces };
}

/** Returns true if the bytes at the index equal the spelling. */
export function spellsAt(bytes: DataView, from: number, { length, last, pieces }: Spelling): boolean {
  if (bytes.getInt32(from + length - piece, true) !== last) return false;
  for (let at = pieces.length - 2; at >= 0; at -= 1) {
    if (bytes.getInt32(from + at * piece, true) !== pieces[at]) return false;
  }
  return true;
}

function piecesOf(word: string): Int32Array {
  const bytes = Uint8Array.from(Buffer.from(word, 'ascii'));
  if (bytes.length === 3) return Int32Array.of(bytes.reduceRight((sum, byte) => sum * 256 + byte, 0));
  if (bytes.length < piece) throw new RangeError(`the word ${word} is too short`);
  const view = new DataView(bytes.buffer);
  return Int32Array.from({ length: Math.ceil(bytes.length / piece) }, (_, at) =>
    view.getInt32(Math.min(at * piece, bytes.length - piece), true),
  );
}

/**
 * Returns true if the bytes equal the word. Compares from the end, because NSIDs of equal length usually differ in
 * their last letters.
 */
function holds(bytes: DataView, from: number, to: number, pieces: Int32Array): boolean {
  let at = pieces.length - 1;
  if (bytes.getInt32(to - piece, true) !== pieces[at]) return false;
  for (at -= 1; at >= 0; at -= 1) {
    if (bytes.getInt32(from + at * piece, true) !== pieces[at]) return false;
  }
  return true;
}
