import { StoreError } from '../../errors.ts';
import { type Cell, Checksum } from './checksum.ts';

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
