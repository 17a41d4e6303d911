import { type ByteWords, lengthBit, type MarkedText, type Spelling, spellsAt, textOf } from './byte-words.ts';

/** Result in place of an index if the text is not JSON. */
export const malformed = -1;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
/** `:"` and `,"` as one little-endian number each. */
const colonQuote = 0x223a;
const commaQuote = 0x222c;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
/** Difference between the ASCII codes of a closing bracket and its opening bracket, for both kinds of brackets. */
const opensBeforeCloses = 2;

/** Maximum length, in characters, of a decoded string that is compared with known words. */
const longestWord = 64;

/**
 * Scans the bytes of one JSON text without building values. The scanner accepts exactly what `JSON.parse` accepts for
 * the same bytes decoded as UTF-8 (invalid bytes decode to U+FFFD, as everywhere in the platform), and never throws.
 *
 * Methods take an index and return the index after the parsed token, or `malformed`. The text is copied into memory
 * where zero bytes follow it. A zero byte is not valid JSON, so no loop has to check the length, and eight bytes may
 * always be read. The text remains valid until any scanner loads another one.
 */
export class JsonScan {
  #text: MarkedText = textOf(0);
  /** One bit per byte of the text, set where the scan of a string stops. */
  #marks = this.#text.marks;
  /** The text, followed by at least eight zero bytes. */
  bytes = this.#text.bytes;
  /** Length of the text, in bytes. */
  length = 0;
  /** True if the last scanned string contained an escape. */
  escaped = false;
  /** Number found by the last call of `integerValue`. */
  integer = 0;

  /** A view of `bytes`. */
  view = this.#text.view;
  /** Closing bytes of the open containers of the value that is being skipped, the innermost last. */
  #closers = new Uint8Array(64);
  readonly #decoded = new DataView(new ArrayBuffer(longestWord));

  /** Loads a new text in place of the current one. */
  load(text: Uint8Array): void {
    const { length } = text;
    const memory = textOf(length);
    if (memory !== this.#text) {
      this.#text = memory;
      this.#marks = memory.marks;
      this.bytes = memory.bytes;
      this.view = memory.view;
    }
    memory.put(text);
    this.length = length;
  }

  /** Returns the index after white space. */
  space(from: number): number {
    const bytes = this.bytes;
    let i = from;
    for (;;) {
      const byte = bytes[i] ?? 0;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return i;
      i += 1;
    }
  }

  /** Returns the index after a string's closing quote; `from` is the index after the opening quote. */
  string(from: number): number {
    const marks = this.#marks;
    const bytes = this.bytes;
    this.escaped = false;
    let i = from;
    for (;;) {
      // A shift uses only the lowest five bits of `i`, which are the position of the byte in its word. The end of the
      // text has a mark, so the loop always finds a word with a mark.
      let word = i >> 5;
      let stops = (marks[word] ?? 0) >> i;
      if (stops === 0) {
        do {
          word += 1;
          stops = marks[word] ?? 1;
        } while (stops === 0);
        i = word << 5;
      }
      i += 31 - Math.clz32(stops & -stops);
      const byte = bytes[i];
      if (byte === quote) return i + 1;
      if (byte !== backslash) return malformed;
      this.escaped = true;
      i = this.#escape(i + 1);
      if (i === malformed) return malformed;
    }
  }

  /**
   * Returns the index after a value of any type, including its content. `from` is the index of the value's first byte.
   */
  value(from: number): number {
    const first = this.bytes[from];
    if (first === quote) return this.string(from + 1);
    if (first === openObject || first === openArray) return this.#container(from);
    return this.#scalar(from);
  }

  /** Returns the index of the first byte of a key's value; `from` is the index after the key. */
  afterKey(from: number): number {
    const i = this.space(from);
    return this.bytes[i] === colon ? this.space(i + 1) : malformed;
  }

  /**
   * Returns true if the bytes at the index equal the spelling. This check avoids scanning a string in its most frequent
   * notation.
   */
  spells(spelling: Spelling, from: number): boolean {
    return spellsAt(this.view, from, spelling);
  }

  /**
   * Returns the index of a string among the words, or -1 if the string is not among the words. Uses `escaped`, which
   * must belong to this string.
   */
  find(words: ByteWords, from: number, to: number): number {
    if (this.escaped) return this.#findDecoded(words, from, to);
    return (words.lengths & lengthBit(to - from)) === 0 ? -1 : words.find(this.view, from, to);
  }

  /**
   * Returns the index after a value of any type, like `value`. Sets `integer` to the number if the value consists of
   * plain digits and is from 1 to 2^53 - 1, otherwise to 0. `1.0` and `1e3` are not integer literals.
   */
  integerValue(from: number): number {
    this.integer = 0;
    let sum = 0;
    let i = from;
    for (;;) {
      const digits = this.view.getInt32(i, true) ^ 0x30303030;
      // The top bit of a byte is set if the byte is not a digit.
      if ((((digits + 0x76767676) | digits) & 0x80808080) !== 0) break;
      const four = (digits & 15) * 1000 + ((digits >> 8) & 15) * 100 + ((digits >> 16) & 15) * 10 + (digits >> 24);
      sum = sum * 10_000 + four;
      i += 4;
    }
    for (;;) {
      const byte = this.bytes[i] ?? 0;
      const digit = byte - 0x30;
      if (digit < 0 || digit > 9) {
        // The value is not a positive integer literal: it has a fraction, an exponent or a leading zero, or it is not a
        // number.
        if (byte === 0x2e || (byte | 0x20) === 0x65 || this.bytes[from] === 0x30 || i === from) return this.value(from);
        if (sum <= Number.MAX_SAFE_INTEGER) this.integer = sum;
        return i;
      }
      sum = sum * 10 + digit;
      i += 1;
    }
  }

  /** Returns the index after an object or array. The method is not recursive, because the peer chooses the depth. */
  #container(from: number): number {
    const bytes = this.bytes;
    const view = this.view;
    let depth = 0;
    /** Closing byte of the innermost open container. */
    let closer = 0;
    /** True if a key must follow the current index. */
    let key = false;
    let i = from;
    for (;;) {
      const first = bytes[i] ?? 0;
      if (first === quote) {
        i = this.string(i + 1);
        if (i === malformed) return malformed;
        const pair = view.getUint16(i, true);
        if (key) {
          key = false;
          // Skip the general path if the value follows its key without white space, which is the most frequent form.
          if (pair === colonQuote) {
            i += 1;
            continue;
          }
          i = this.afterKey(i);
          if (i === malformed) return malformed;
          continue;
        }
        if (pair === commaQuote) {
          i += 1;
          key = closer === closeObject;
          if (depth > 0) continue;
          return i;
        }
      } else if (key) {
        return malformed;
      } else if (first === openObject || first === openArray) {
        const closing = first + opensBeforeCloses;
        i = this.space(i + 1);
        if (bytes[i] !== closing) {
          this.#push(depth, closing);
          depth += 1;
          closer = closing;
          key = first === openObject;
          continue;
        }
        i += 1;
      } else {
        i = this.#scalar(i);
        if (i === malformed) return malformed;
      }

      // After a value, continue with the next value, or close the containers that end here.
      for (;;) {
        if (depth === 0) return i;
        i = this.space(i);
        if (bytes[i] === comma) {
          i = this.space(i + 1);
          key = closer === closeObject;
          break;
        }
        if (bytes[i] !== closer) return malformed;
        i += 1;
        depth -= 1;
        closer = this.#closers[depth - 1] ?? 0;
      }
    }
  }

  #push(depth: number, closer: number): void {
    if (depth === this.#closers.length) {
      const wider = new Uint8Array(2 * depth);
      wider.set(this.#closers);
      this.#closers = wider;
    }
    this.#closers[depth] = closer;
  }

  /** Returns the index after one escape; `from` is the index after the backslash. */
  #escape(from: number): number {
    switch (this.bytes[from]) {
      case quote:
      case backslash:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return from + 1;
      case 0x75:
        return this.#codeUnit(from + 1) < 0 ? malformed : from + 5;
      default:
        return malformed;
    }
  }

  /** Returns the value of four hexadecimal digits, or -1. */
  #codeUnit(from: number): number {
    let unit = 0;
    for (let i = from; i < from + 4; i += 1) {
      const digit = hexDigit(this.bytes[i] ?? 0);
      if (digit < 0) return -1;
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #findDecoded(words: ByteWords, from: number, to: number): number {
    const length = this.#decode(from, to);
    return length < 0 ? -1 : words.find(this.#decoded, 0, length);
  }

  /**
   * Decodes a scanned string and returns its length, or -1 if the string cannot be a known word: too long, or not
   * ASCII.
   */
  #decode(from: number, to: number): number {
    let length = 0;
    let i = from;
    while (i < to) {
      if (length === longestWord) return -1;
      let unit = this.bytes[i] ?? 0;
      i += 1;
      if (unit === backslash) {
        const letter = this.bytes[i] ?? 0;
        unit = letter === 0x75 ? this.#codeUnit(i + 1) : (shortEscapes.get(letter) ?? letter);
        i += letter === 0x75 ? 5 : 1;
      }
      if (unit > 0x7f) return -1;
      this.#decoded.setUint8(length, unit);
      length += 1;
    }
    return length;
  }

  #scalar(from: number): number {
    switch (this.bytes[from]) {
      case 0x74:
        return this.#spelled(from, wordTrue);
      case 0x66:
        return this.#spelled(from, wordFalse);
      case 0x6e:
        return this.#spelled(from, wordNull);
      default:
        return this.#number(from);
    }
  }

  #spelled(from: number, word: Uint8Array): number {
    for (let i = 0; i < word.length; i += 1) {
      if (this.bytes[from + i] !== word[i]) return malformed;
    }
    return from + word.length;
  }

  #number(from: number): number {
    const bytes = this.bytes;
    let i = bytes[from] === 0x2d ? from + 1 : from;
    if (bytes[i] === 0x30) {
      i += 1;
    } else {
      i = this.#digits(i);
      if (i === malformed) return malformed;
    }
    if (bytes[i] === 0x2e) {
      i = this.#digits(i + 1);
      if (i === malformed) return malformed;
    }
    if (bytes[i] === 0x65 || bytes[i] === 0x45) {
      i += 1;
      if (bytes[i] === 0x2b || bytes[i] === 0x2d) i += 1;
      i = this.#digits(i);
    }
    return i;
  }

  /** Returns the index after one or more digits. */
  #digits(from: number): number {
    let i = from;
    for (;;) {
      const digit = (this.bytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return i === from ? malformed : i;
      i += 1;
    }
  }
}

const wordTrue = Uint8Array.from(Buffer.from('true'));
const wordFalse = Uint8Array.from(Buffer.from('false'));
const wordNull = Uint8Array.from(Buffer.from('null'));

/** Characters denoted by a backslash and a letter. Other escaped characters denote themselves. */
const shortEscapes: ReadonlyMap<number, number> = new Map([
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
]);

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
