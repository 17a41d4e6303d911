/**
 * First bytes of an unfragmented text message and of an unfragmented binary message, without extensions (RFC 6455,
 * 5.2).
 */
const text = 0x81;
const binary = 0x82;
/** First bytes of a ping and of a pong. */
const ping = 0x89;
const pong = 0x8a;
/**
 * Length codes that announce a length field of two bytes and of eight bytes. A larger value of this byte means that
 * the frame is masked.
 */
const twoByteLength = 126;
const eightByteLength = 127;

/** Limit and consumers of the frames of a connection. */
interface FrameLaneOptions {
  /** Maximum size of a message, in bytes. */
  readonly maxBytes: number;
  /** Called with each message that is complete in its chunk. The bytes are a view of the chunk. */
  readonly message: (data: Buffer, isBinary: boolean) => void;
  /**
   * Called with all other bytes, in whole frames over several calls. `isLast` is true if the library must receive all
   * bytes that follow.
   */
  readonly rest: (bytes: Buffer, isLast: boolean) => void;
}

/**
 * Separates the complete messages of a chunk from the bytes that a websocket library has to parse. Handles only
 * unfragmented text and binary messages up to 64 KiB that are complete in one chunk. Nearly all frames of a busy
 * stream are of this kind, and a library spends more time on such a frame than this program spends on its content.
 *
 * The library receives every incomplete or longer message, ping and pong as a whole frame, so its state and its
 * checks stay valid. Starting with the first frame of any other kind (fragment, close, protocol violation, too
 * large), the library receives all bytes, and `chunk` returns false.
 */
export class FrameLane {
  readonly #options: FrameLaneOptions;
  /** Header of the frame that the library is receiving; empty between frames. */
  #header: number[] = [];
  /**
   * Number of missing payload bytes of the frame that the library is receiving, or null while its header is incomplete.
   */
  #missing: number | null = null;

  constructor(options: FrameLaneOptions) {
    this.#options = options;
  }

  /** Handles the next chunk. Returns false if the library must receive all bytes that follow this chunk. */
  chunk(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length) {
      const next = this.#header.length === 0 ? this.#messages(bytes, at) : at;
      if (next === bytes.length) return true;
      at = this.#forward(bytes, next);
    }
    return at === bytes.length;
  }

  /** Passes on the complete messages from an index. Returns the index of the first other frame. */
  #messages(bytes: Buffer, from: number): number {
    const { maxBytes, message } = this.#options;
    let at = from;
    // The last header of a chunk may lack up to two bytes. In that case `end` exceeds `bytes.length`, so the frame is
    // left to the library.
    while (at + 2 <= bytes.length) {
      const first = bytes[at];
      if (first !== text && first !== binary) return at;
      let size = bytes[at + 1] ?? 0;
      let start = at + 2;
      if (size === twoByteLength) {
        size = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
        start = at + 4;
      } else if (size > twoByteLength) return at;
      const end = start + size;
      if (end > bytes.length || size > maxBytes) return at;
      message(bytes.subarray(start, end), first === binary);
      at = end;
    }
    return at;
  }

  /**
   * Passes the received bytes of the frame at an index to the library. Returns the index after these bytes, or infinity
   * if all following bytes were also passed.
   */
  #forward(bytes: Buffer, from: number): number {
    let at = from;
    while (this.#missing === null && at < bytes.length) {
      this.#header.push(bytes[at] ?? 0);
      at += 1;
      const missing = this.#payloadBytes();
      if (missing === 'unusual') {
        this.#options.rest(bytes.subarray(from), true);
        return Number.POSITIVE_INFINITY;
      }
      this.#missing = missing;
    }
    const end = Math.min(bytes.length, at + (this.#missing ?? 0));
    if (this.#missing !== null) this.#missing -= end - at;
    if (this.#missing === 0) {
      this.#header = [];
      this.#missing = null;
    }
    this.#options.rest(bytes.subarray(from, end), false);
    return end;
  }

  /**
   * Returns the size of the payload, null while the header is incomplete, or `unusual` if the library must read this
   * frame and all following ones.
   */
  #payloadBytes(): number | null | 'unusual' {
    const [first, second, ...length] = this.#header;
    const isControl = first === ping || first === pong;
    if (!isControl && first !== text && first !== binary) return 'unusual';
    if (second === undefined) return null;
    if (second > (isControl ? twoByteLength - 1 : eightByteLength)) return 'unusual';
    if (second < twoByteLength) return this.#admit(second);
    if (length.length < (second === twoByteLength ? 2 : 8)) return null;
    return this.#admit(length.reduce((size, byte) => size * 256 + byte, 0));
  }

  #admit(size: number): number | 'unusual' {
    return size > this.#options.maxBytes ? 'unusual' : size;
  }
}
