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

/** Number of bytes that may be read after the end of a text. It exceeds the length of the longest compared spelling. */
const slack = 32;

/** Size of a page of WebAssembly memory, in bytes. */
const pageBytes = 65_536;

/** Capacity in bytes that is enough for all but a few frames. */
const usualCapacity = 48 * 1024;

/** Sets the marks of the bytes from `from` to `to`, both inclusive, and of a few bytes after them. */
type Mark = (from: number, to: number, marks: number) => void;

/** Buffer for the marks followed by the text, with the function that sets the marks. */
interface Marker {
  readonly buffer: ArrayBuffer;
  readonly mark: Mark;
}

/**
 * Memory that holds one text and its marks. Each bit of `marks` belongs to one byte of the text: it is set if the scan
 * of a string stops at that byte, which is a quote, a backslash or a byte below 0x20.
 */
export class MarkedText {
  readonly capacity: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly marks: Int32Array;
  readonly #mark: Mark;
  readonly #textAt: number;

  constructor(capacity: number, markerOf: (bytes: number) => Marker = fastMarker) {
    this.capacity = capacity;
    const textBytes = Math.ceil((capacity + slack) / 32) * 32;
    // The marks precede the text, with one bit for each byte of the text.
    this.#textAt = Math.ceil(textBytes / 8 / 32) * 32;
    const { buffer, mark } = markerOf(this.#textAt + textBytes);
    this.bytes = new Uint8Array(buffer, this.#textAt, textBytes);
    this.view = new DataView(buffer, this.#textAt, textBytes);
    this.marks = new Int32Array(buffer, 0, textBytes / 32);
    this.#mark = mark;
  }

  /** Replaces the text. A zero byte follows the text, so that its end has a mark. */
  put(text: Uint8Array): void {
    const { length } = text;
    this.bytes.set(text);
    this.view.setFloat64(length, 0);
    this.#mark(this.#textAt, this.#textAt + length, 0);
  }
}

/** Returns memory that WebAssembly marks 32 bytes at a time, or plain memory if the platform cannot run the module. */
function fastMarker(bytes: number): Marker {
  try {
    const pages = Math.ceil(bytes / pageBytes);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { mark } = new WebAssembly.Instance(new WebAssembly.Module(markingModule), { text: { memory } }).exports;
    if (typeof mark === 'function') return { buffer: memory.buffer, mark: mark as Mark };
  } catch {
    // Use the loop if the processor has no SIMD instructions or no address space is left for WebAssembly.
  }
  return plainMarker(bytes);
}

/** Returns memory that a JavaScript loop marks byte by byte. */
export function plainMarker(size: number): Marker {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const mark: Mark = (from, to, marks) => {
    for (let block = 0; from + block <= to; block += 32) {
      let bits = 0;
      for (let bit = 0; bit < 32; bit += 1) {
        const byte = bytes[from + block + bit] ?? 0;
        if (byte === 0x22 || byte === 0x5c || byte < 0x20) bits |= 1 << bit;
      }
      view.setInt32(marks + block / 8, bits, true);
    }
  };
  return { buffer: bytes.buffer, mark };
}

let shared: MarkedText | null = null;

/**
 * Returns memory for a text of the given length. All scanners of a thread share this memory, because a text is read
 * without interruption, and each WebAssembly memory reserves address space. A text that is longer than all previous
 * ones gets new memory.
 */
export function textOf(length: number): MarkedText {
  if (shared === null || length > shared.capacity) {
    shared = new MarkedText(length <= usualCapacity ? usualCapacity : 2 * length);
  }
  return shared;
}

/**
 * A WebAssembly module with one function, `mark(from, to, marks)`. The function reads 32 bytes of memory starting at
 * `from`, writes their marks as one 32-bit number to `marks`, and continues with the next 32 bytes until the byte at
 * `to` is marked. A mark is set if the byte is a quote, a backslash or below 0x20.
 *
 * The module is written out instruction by instruction, because it is too short to justify a compiler.
 */

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

/** WebAssembly types. */
const [i32, v128, functionType, noResult] = [0x7f, 0x7b, 0x60, 0x40] as const;
/** WebAssembly instructions. */
const [loop, branchIf, end] = [0x03, 0x0d, 0x0b] as const;
const [getLocal, setLocal, teeLocal, constant, store] = [0x20, 0x21, 0x22, 0x41, 0x36] as const;
const [isAtMost, add, or, shiftLeft] = [0x4d, 0x6a, 0x72, 0x74] as const;
/** Prefix byte of the SIMD instructions. */
const simd = 0xfd;
/** Opcodes of the SIMD instructions. */
const [load16, splat16, equal16, below16, or16, bitmask16] = [0, 15, 35, 38, 80, 100] as const;
/** Local variables: the three parameters, and 16 bytes of the text. */
const [from, to, marks, sixteen] = [0, 1, 2, 3] as const;
/** Section ids of the module format. */
const [types, imports, functions, exports, codes] = [1, 2, 3, 7, 10] as const;
const [importedMemory, exportedFunction] = [2, 0] as const;

/** Encodes a number in the variable-length format (LEB128), signed or unsigned. */
function varint(value: number, signed: boolean): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = rest === 0 && !(signed && (low & 0x40) !== 0);
  return isLast ? [low] : [low | 0x80, ...varint(rest, signed)];
}

const push = (value: number): number[] => [constant, ...varint(value, true)];
const wide = (instruction: number): number[] => [simd, ...varint(instruction, false)];
const text = (name: string): number[] => [name.length, ...Buffer.from(name, 'ascii')];
const section = (kind: number, body: readonly number[]): number[] => [kind, ...varint(body.length, false), ...body];

/** Returns the instructions that push the marks of the 16 bytes at `from` + `offset`. */
function marksOf(offset: number): number[] {
  const equals = (byte: number): number[] => [getLocal, sixteen, ...push(byte), ...wide(splat16), ...wide(equal16)];
  return [
    ...[getLocal, from, ...wide(load16), 0, offset, setLocal, sixteen],
    ...equals(quote),
    ...[...equals(backslash), ...wide(or16)],
    ...[getLocal, sixteen, ...push(firstPrintable), ...wide(splat16), ...wide(below16), ...wide(or16)],
    ...wide(bitmask16),
  ];
}

const body = [
  ...[1, 1, v128],
  ...[loop, noResult],
  ...[getLocal, marks, ...marksOf(0), ...marksOf(16), ...push(16), shiftLeft, or, store, 0, 0],
  ...[getLocal, marks, ...push(4), add, setLocal, marks],
  ...[getLocal, from, ...push(32), add, teeLocal, from],
  ...[getLocal, to, isAtMost, branchIf, 0],
  ...[end, end],
];

/** The bytes of the module, which imports the memory `text.memory`. */
const markingModule = Uint8Array.from([
  ...[...Buffer.from('\0asm', 'ascii'), 1, 0, 0, 0],
  ...section(types, [1, functionType, 3, i32, i32, i32, 0]),
  ...section(imports, [1, ...text('text'), ...text('memory'), importedMemory, 0, 1]),
  ...section(functions, [1, 0]),
  ...section(exports, [1, ...text('mark'), exportedFunction, 0]),
  ...section(codes, [1, ...varint(body.length, false), ...body]),
]);
