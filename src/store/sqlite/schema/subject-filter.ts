import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import type { SubjectKey } from '../base/row.ts';

/**
 * Bloom filter of the subjects that have rows in a sealed day. The filter is divided into blocks, each stored as one
 * row of a table. A query reads at most one small block and keeps nothing in memory. The filter avoids most reads,
 * because most accounts have rows on only a few days of a window.
 */

/** Number of bits per subject. About one look-up in a hundred for an absent subject is a false positive. */
const bitsEach = 10;
/** Number of bits that a look-up tests. */
const looks = 7;
/** Number of bits per block. */
const blockBits = 2_048;
const crcBytes = 4;

/** Returns the number of blocks that a number of subjects requires. */
function blocksFor(subjects: number): number {
  return Math.max(1, Math.ceil((subjects * bitsEach) / blockBits));
}

/**
 * Returns the blocks of a filter for `count` subjects. Each block ends with its checksum. With `placed`, the checksum
 * also covers the index of the block.
 */
export function filterBlocks(subjects: Iterable<SubjectKey>, count: number, placed: boolean): Buffer[] {
  const blocks = Array.from({ length: blocksFor(count) }, () => Buffer.alloc(blockBits / 8 + crcBytes));
  for (const subject of subjects) {
    const { block, bits } = placesOf(subject, blocks.length);
    const of = blocks[block];
    if (of) for (const bit of bits) of[bit >>> 3] = (of[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
  for (const [i, block] of blocks.entries()) {
    block.writeUInt32LE(crc32(block.subarray(0, -crcBytes), placed ? seedOf(i, blocks.length) : 0), blockBits / 8);
  }
  return blocks;
}

function seedOf(block: number, blocks: number): number {
  return crc32(`${block} of ${blocks}`);
}

/** Subject filter of a sealed day, as stored in its file. */
interface KeptFilter {
  readonly path: string;
  /** True if the checksum of a block also covers its index. */
  readonly placed: boolean;
  /** Number of blocks of the filter. */
  readonly count: number;
  /** Returns one block of the filter, or undefined if it does not exist. */
  readonly read: (block: number) => Buffer | undefined;
}

/**
 * Returns false if the day certainly has no row of the subject. Throws `damaged` if the block's checksum does not
 * match, because a cleared bit would hide rows.
 */
export function mayHold(subject: SubjectKey, { path, placed, count, read }: KeptFilter): boolean {
  const { block, bits } = placesOf(subject, count);
  const of = read(block);
  const seed = placed ? seedOf(block, count) : 0;
  if (
    of?.length !== blockBits / 8 + crcBytes ||
    crc32(of.subarray(0, -crcBytes), seed) !== of.readUInt32LE(blockBits / 8)
  ) {
    throw new StoreError(
      'damaged',
      `${path}: block ${block} of ${count} of the subject filter does not match its checksum`,
    );
  }
  return bits.every((bit) => ((of[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** SQL that selects every distinct subject of a day. */
export const subjectsSql = 'SELECT DISTINCT subject FROM main.observation';

/** Computes and stores the subject filter of a complete sealed day. */
export function keepFilter(db: Sqlite): void {
  const count = db.prepare<[], number>(`SELECT count(*) FROM (${subjectsSql})`).pluck().get() ?? 0;
  const blocks = filterBlocks(db.prepare<[], SubjectKey>(subjectsSql).pluck().iterate(), count, true);
  const insert = db.prepare('INSERT INTO main.subject_filter(block, bits) VALUES (?, ?)');
  db.transaction(() => {
    for (const [block, bits] of blocks.entries()) insert.run(block, bits);
  })();
}

function placesOf(subject: SubjectKey, blocks: number): { readonly block: number; readonly bits: readonly number[] } {
  const digest = hash('sha1', subject, 'buffer');
  const [first, step] = [digest.readUInt32LE(4), digest.readUInt32LE(8) | 1];
  const bits = Array.from({ length: looks }, (_, look) => (first + look * step) & (blockBits - 1));
  return { block: digest.readUInt32LE(0) % blocks, bits };
}
