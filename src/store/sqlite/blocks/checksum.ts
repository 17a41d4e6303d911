import { hash } from 'node:crypto';

/** A value as returned by SQLite. */
export type Cell = number | string | Uint8Array | null;

/** Length of a checksum in bytes: the beginning of a SHA-256 hash. */
export const sumBytes = 8;

/**
 * Computes checksums of values, each encoded canonically with its type and length. An instance can be reused, so that
 * its buffer is allocated only once.
 */
export class Checksum {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Number of bytes that were added since the last checksum. */
  get length(): number {
    return this.#length;
  }

  /** Adds values in order. */
  add(values: readonly Cell[]): void {
    for (const value of values) {
      if (value === null) this.#byte(0);
      else if (typeof value === 'number') {
        this.#byte(1);
        this.#reserve(8);
        this.#length = this.#bytes.writeDoubleLE(value, this.#length);
      } else if (typeof value === 'string') this.#text(value);
      else {
        this.#head(3, value.length);
        this.#reserve(value.length);
        this.#bytes.set(value, this.#length);
        this.#length += value.length;
      }
    }
  }

  /** Returns the checksum of the added values, and starts the next checksum. */
  take(): Buffer {
    const sum = hash('sha256', this.#bytes.subarray(0, this.#length), 'buffer').subarray(0, sumBytes);
    this.#length = 0;
    return sum;
  }

  #text(value: string): void {
    // A character takes at most three bytes. Write the length after the text, because only then is the length known.
    this.#head(2, 0);
    this.#reserve(3 * value.length);
    const written = this.#bytes.write(value, this.#length);
    this.#bytes.writeUInt32LE(written, this.#length - 4);
    this.#length += written;
  }

  #head(type: number, length: number): void {
    this.#byte(type);
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(length, this.#length);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
