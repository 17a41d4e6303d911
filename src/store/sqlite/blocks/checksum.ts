import { hash } from 'node:crypto';

/** A value as SQLite returns it. */
export type Cell = number | string | Uint8Array | null;

/** Length of a checksum in bytes: the first bytes of a SHA-256. */
export const sumBytes = 8;

/**
 * Collects values as canonical bytes, each with its type and length, for one checksum. One instance is reused to avoid
 * allocating its buffer again.
 */
export class Checksum {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Number of bytes that were collected since the last checksum. */
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

  /** Returns the checksum of the collected values, and starts a new checksum. */
  take(): Buffer {
    const sum = hash('sha256', this.#bytes.subarray(0, this.#length), 'buffer').subarray(0, sumBytes);
    this.#length = 0;
    return sum;
  }

  #text(value: string): void {
    // A character takes at most three bytes; the length is written once it is known.
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
