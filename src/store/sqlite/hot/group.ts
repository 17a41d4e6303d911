import { crc32 } from 'node:zlib';
import { StoreError } from '../../errors.ts';
import { removalFlag, type SubjectKey, sameKey } from '../base/row.ts';
import { countsSql, hotRows, targetSql } from '../schema/day-schema.ts';

/**
 * One group of a subject's rows: numeric ids of labeler and value, index of the target kind in `targetKinds`, and the
 * number of applications and removals.
 */
export type Group = readonly [source: number, val: number, target: number, applied: number, removed: number];

/**
 * Maximum number of a subject's stored groups that are read from a day. For a subject with more groups, rows are
 * counted within the budget instead.
 */
export const maxGroups = 5_000;

/** Groups of one subject, in order. Contains at most the first `maxGroups + 1` groups. */
export interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}

/** SQL that counts the rows of one subject by group, in group order. */
export const countedSql = `SELECT source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject = ? GROUP BY source, val, target ORDER BY source, val, target`;

/** SQL that counts the rows of every hot subject by group, ordered by subject. */
export const hotSubjectsSql = `SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject IN (SELECT subject FROM main.observation GROUP BY subject HAVING count(*) >= ${hotRows})
  GROUP BY subject, source, val, target ORDER BY subject, source, val, target`;

/** Collects rows that are sorted by subject into the groups of each subject. */
export function* bySubject(rows: Iterable<readonly [SubjectKey, ...Group]>): Generator<HotSubject> {
  let last: { readonly subject: SubjectKey; readonly groups: Group[] } | null = null;
  for (const [subject, ...group] of rows) {
    if (last === null || !sameKey(last.subject, subject)) {
      if (last) yield last;
      last = { subject, groups: [] };
    }
    if (last.groups.length <= maxGroups) last.groups.push(group);
  }
  if (last) yield last;
}

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

/**
 * Returns SQL that encodes the labeler, value, target and action of a row as one number, because SQLite returns one
 * number several times faster than four columns. The encoding is exact while a day's file has fewer than 2^20 labelers
 * and 2^29 values. `target` is the SQL expression of the row's target.
 */
export function packedRowSql(target: string): string {
  return `source * ${2 ** 32} + val * 8 + (${target}) * 2 + (flags & ${removalFlag} <> 0)`;
}

/**
 * Counts rows that `packedRowSql` encoded. Returns one group for each combination of labeler, value, target and action:
 * a group has only applications or only removals.
 */
export function groupsOfPacked(rows: readonly number[]): Group[] {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return [...counts].map(([row, n]) => {
    const group = Math.floor(row / 2);
    const removed = row % 2 === 1;
    const ids = [Math.floor(group / 2 ** 31), Math.floor(group / 4) % 2 ** 29, group % 4] as const;
    return [...ids, removed ? 0 : n, removed ? n : 0];
  });
}
