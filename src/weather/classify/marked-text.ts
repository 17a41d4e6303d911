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
