import { crc32 } from 'node:zlib';
import { StoreError } from '../errors.ts';
import type { Group } from './group.ts';

/**
 * The groups of one subject's day in a few bytes each, so that a page reads one place in the file and not a row for
 * each: varints of how far the labeler's number rises, of value and target, and of the two counts; then a checksum, as
 * a bit that is lost would be a wrong number.
 */

const crcBytes = 4;
const targets = 3;

/** Packs groups in the order of (source, val, target); the checksum goes on from `seed`. */
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

/** The groups of a packed day, which `path` holds. Throws `damaged` where they are not as they were kept. */
export function unpackGroups(packed: Buffer, path: string, seed = 0): Group[] {
  const end = packed.length - crcBytes;
  if (end < 0 || crc32(packed.subarray(0, end), seed) !== packed.readUInt32LE(end)) {
    throw new StoreError('damaged', `${path}: the counts of an account differ from what was stored`);
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
