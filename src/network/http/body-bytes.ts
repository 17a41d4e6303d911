import { maxPieces } from '../../input/limits.ts';

/** Initial capacity in bytes; most responses are smaller. */
const firstCapacity = 16 * 1024;

/**
 * Bytes of a body that arrive in pieces. All pieces are copied into one buffer, because a separate buffer for a piece
 * of one byte would occupy about 200 bytes of memory.
 */
export class BodyBytes {
  readonly #limit: number;
  #bytes = Buffer.allocUnsafeSlow(0);
  #length = 0;
  #pieces = 0;

  /** `limit` is the maximum length in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of received bytes. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds a piece. Returns false without adding the piece if the body becomes too long or consists of too many pieces
   * for its length.
   */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    this.#pieces += 1;
    if (length > this.#limit || this.#pieces > maxPieces(length)) return false;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(piece, this.#length);
    this.#length = length;
    return true;
  }

  /** Returns the bytes; no piece may be added afterwards. */
  whole(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const capacity = Math.min(this.#limit, Math.max(length, 2 * this.#bytes.length, firstCapacity));
    const grown = Buffer.allocUnsafeSlow(capacity);
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
