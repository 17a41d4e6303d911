import { markingModule } from './marking-module.ts';

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
