import { hash } from 'node:crypto';
import { StoreError } from '../../errors.ts';
import { rowColumns } from '../schema/day-schema.ts';

/** A value as returned by SQLite. */
export type Cell = number | string | Uint8Array | null;

/** Length of a checksum in bytes: the beginning of a SHA-256 hash. */
const sumBytes = 8;

/**
 * Computes checksums of values, each encoded canonically with its type and length. An instance can be reused, so that
 * its buffer is allocated only once.
 */
class Checksum {
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

/**
 * A block of a sealed day: adjacent rows of one part of the file, in key order. The two checksums of a block prove that
 * it contains exactly the rows from `first` up to `next`, the first key of the following block. If a damaged page makes
 * a read return other rows or another block, the checksums do not match.
 */
export interface Block {
  readonly part: string;
  /** Index of the block within its part. */
  readonly index: number;
  /** Smallest key of the rows that the block covers. */
  readonly first: Key;
  /** First key of the next block, or null for the last block. */
  readonly next: Key | null;
  readonly rows: number;
  /** Checksum of the rows. */
  readonly sum: Buffer;
}

/** Key of a row. Keys sort as in SQLite: text before blobs, then by the number. */
export type Key = readonly [Buffer | string, number];

/** Key that sorts before the key of every row, because SQLite sorts the empty text first. */
export const smallestKey: Key = ['', 0];

const checksum = new Checksum();

/** Returns the checksum that binds the rows of a block to the block's position within the day. */
export function edgeOf(day: number, { part, index, first, next, rows, sum }: Block): Buffer {
  checksum.add([day, part, index, ...first, ...(next ?? [null]), rows, sum]);
  return checksum.take();
}

/** Returns the checksum of rows, in the given order. */
export function sumOf(rows: Iterable<readonly Cell[]>): Buffer {
  for (const row of rows) checksum.add(row);
  return checksum.take();
}

/** Compares two keys in SQLite's order. Usable as a comparator for `Array.prototype.sort`. */
export function compareKeys([a, i]: Key, [b, j]: Key): number {
  if (typeof a === 'string' && typeof b === 'string')
    return (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))) || i - j;
  if (typeof a === 'string') return -1;
  if (typeof b === 'string') return 1;
  return Buffer.compare(a, b) || i - j;
}

/** Creates the error for data in a file that does not match its checksum. */
export function altered(path: string, what: string): StoreError {
  return new StoreError('damaged', `${path}: ${what} differs from what was sealed`);
}

/** Maximum number of rows per block. */
const maxBlockRows = 64;
/** Minimum size of a full block, in bytes. No row is added to a full block. */
const maxBlockBytes = 32 * 1024;

/** Divides rows, which must be in key order, into blocks. */
export function* blocksOf(
  part: string,
  rows: Iterable<readonly Cell[]>,
  keyOf: (row: readonly Cell[]) => Key,
): Generator<Block> {
  const collected = new Checksum();
  let index = 0;
  let first = smallestKey;
  let count = 0;
  for (const row of rows) {
    if (count === maxBlockRows || collected.length >= maxBlockBytes) {
      const next = keyOf(row);
      yield { part, index, first, next, rows: count, sum: collected.take() };
      index += 1;
      first = next;
      count = 0;
    }
    collected.add(row);
    count += 1;
  }
  yield { part, index, first, next: null, rows: count, sum: collected.take() };
}

/** Name of the part that contains the rows of a sealed day. */
export const rowPart = 'observation';

/** Columns, table and key of each part that is divided into blocks, for use in SQL. */
export const partSql = {
  observation: { columns: rowColumns, table: 'observation', key: 'subject, id' },
  source: { columns: 'name, id', table: 'source', key: 'name' },
  val: { columns: 'name, id', table: 'val', key: 'name' },
  collection: { columns: 'name, id', table: 'collection', key: 'name' },
} as const;

/** A part of a sealed day that is divided into blocks. */
export type BlockPart = keyof typeof partSql;

/** Returns the key of a row in the given part. */
export function keyIn(part: BlockPart, row: readonly Cell[]): Key {
  return part === rowPart ? [row[1] as Key[0], row[0] as number] : [row[0] as string, 0];
}
