import { crc32 } from 'node:zlib';
import { StoreError } from '../../errors.ts';
import type { SubjectKey } from '../base/row.ts';
import type { Group } from './group.ts';

/**
 * Encoding of one subject's groups on one day in a few bytes each, so that a page reads one location in the file
 * instead of a row per group. Each group consists of varints: the increase of the labeler's id, one number for the
 * value's id and the target, and the two counts. A checksum follows the groups, because a flipped bit would result in a
 * wrong count.
 */

const crcBytes = 4;
const targets = 3;

/** Packs groups, which must be sorted by source, value and target. `seed` initializes the checksum. */
export function packGroups(groups: readonly Group[], seed = 0): Buffer {
  const bytes: number[] = [];
  let before = 0;
  for (const [source, val, target, applied, removed] of groups) {
    for (let value of [source - before, val * targets + target, applied, removed]) {
      for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value & 0x7f) | 0x80);
      bytes.push(value);
    }
    before = source;
  }
  const packed = Buffer.alloc(bytes.length + crcBytes);
  packed.set(bytes);
  packed.writeUInt32LE(crc32(packed.subarray(0, bytes.length), seed), bytes.length);
  return packed;
}

/** Unpacks groups that were read from the file `path`. Throws `damaged` if the checksum does not match. */
export function unpackGroups(packed: Buffer, path: string, seed = 0): Group[] {
  const end = packed.length - crcBytes;
  if (end < 0 || crc32(packed.subarray(0, end), seed) !== packed.readUInt32LE(end)) {
    throw new StoreError('damaged', `${path}: the counts of an account do not match their checksum`);
  }
  const groups: Group[] = [];
  let at = 0;
  let source = 0;
  function next(): number {
    let value = 0;
    for (let scale = 1; at < end; scale *= 0x80) {
      const byte = packed[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }
  while (at < end) {
    source += next();
    const about = next();
    groups.push([source, Math.floor(about / targets), about % targets, next(), next()]);
  }
  return groups;
}

/**
 * Returns the checksum seed of a subject's packed groups, which makes the groups of any other subject fail the check.
 */
export function groupsSeed(subject: SubjectKey): number {
  return crc32(subject, typeof subject === 'string' ? 1 : 2);
}
