import { markingModule } from './marking-module.ts';

/** Number of bytes that may be read after the end of a text: more than the length of the longest compared spelling. */
const slack = 32;

/** Size of a page of WebAssembly memory in bytes. */
const pageBytes = 65_536;

/** Texts of frames are shorter, except a few. */
const usualCapacity = 48 * 1024;

/** Sets the marks of the bytes from `from` to `to`, both included, and of a few after them. */
type Mark = (from: number, to: number, marks: number) => void;

/** Memory with its function. The marks are at its start. */
interface Marker {
  readonly buffer: ArrayBuffer;
  readonly mark: Mark;
}

/**
 * Memory of one text. Each bit of `marks` belongs to one byte of the text: it is set if the byte is a quote, a backslash or
 * below 0x20, at which the scan of a string stops.
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
    // The marks are before the text, one bit for each of its bytes.
    this.#textAt = Math.ceil(textBytes / 8 / 32) * 32;
    const { buffer, mark } = markerOf(this.#textAt + textBytes);
    this.bytes = new Uint8Array(buffer, this.#textAt, textBytes);
    this.view = new DataView(buffer, this.#textAt, textBytes);
    this.marks = new Int32Array(buffer, 0, textBytes / 32);
    this.#mark = mark;
  }

  /** Replaces the text. A zero byte follows it, so that its end has a mark. */
  put(text: Uint8Array): void {
    const { length } = text;
    this.bytes.set(text);
    this.view.setFloat64(length, 0);
    this.#mark(this.#textAt, this.#textAt + length, 0);
  }
}

/** Returns memory that WebAssembly marks, 32 bytes in one step; plain memory if the platform cannot run the module. */
function fastMarker(bytes: number): Marker {
  try {
    const pages = Math.ceil(bytes / pageBytes);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { mark } = new WebAssembly.Instance(new WebAssembly.Module(markingModule), { text: { memory } }).exports;
    if (typeof mark === 'function') return { buffer: memory.buffer, mark: mark as Mark };
  } catch {
    // Processors without SIMD, and limits of addresses.
  }
  return plainMarker(bytes);
}

/** Returns memory that a loop marks byte by byte. */
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
 * Returns the memory of the current text. All scanners of a thread share it, because a text is read in one turn, and each
 * WebAssembly memory reserves addresses. A text that is longer than all before gets a new memory.
 */
export function textOf(length: number): MarkedText {
  if (shared === null || length > shared.capacity) {
    shared = new MarkedText(length <= usualCapacity ? usualCapacity : 2 * length);
  }
  return shared;
}
