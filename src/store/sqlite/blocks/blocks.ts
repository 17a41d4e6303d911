import { StoreError } from '../../errors.ts';
import { type Cell, Checksum } from './checksum.ts';

/**
 * A block of a sealed day: adjacent rows of one part of the file, in key order. The two checksums of a block prove that
 * its rows are all rows from `first` up to `next`, the first key of the following block. If an altered page makes a
 * read find other rows or another block, the checksums do not match.
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

/** Key of a row. Keys sort as in SQLite: text before blobs, then by number. */
export type Key = readonly [Buffer | string, number];

/** Key that sorts before every key of a row, because SQLite sorts the empty text before all other texts. */
export const smallestKey: Key = ['', 0];

const checksum = new Checksum();

/** Returns the checksum that binds the rows of a block to the position of the block in one day. */
export function edgeOf(day: number, { part, index, first, next, rows, sum }: Block): Buffer {
  checksum.add([day, part, index, ...first, ...(next ?? [null]), rows, sum]);
  return checksum.take();
}

/** Returns the checksum of rows in order. */
export function sumOf(rows: Iterable<readonly Cell[]>): Buffer {
  for (const row of rows) checksum.add(row);
  return checksum.take();
}

/** Compares two keys in SQLite's order, like a comparator of `Array.prototype.sort`. */
export function compareKeys([a, i]: Key, [b, j]: Key): number {
  if (typeof a === 'string' && typeof b === 'string')
    return (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))) || i - j;
  if (typeof a === 'string') return -1;
  if (typeof b === 'string') return 1;
  return Buffer.compare(a, b) || i - j;
}

/** Creates the error for a block with a wrong checksum. */
export function altered(path: string, what: string): StoreError {
  return new StoreError('damaged', `${path}: ${what} differs from what was sealed`);
}

const maxBlockRows = 64;
const maxBlockBytes = 32 * 1024;

/** Divides rows in key order into blocks, and yields the blocks. */
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
