import { crc32 } from 'node:zlib';
import { targetKinds } from '../../contract/vocabulary.ts';
import type { AccountFilter } from '../port.ts';
import { postCollection } from '../subject.ts';
import type { Sqlite } from './connection.ts';
import { busyRows } from './day-schema.ts';
import type { Group } from './group.ts';
import { packGroups } from './packed-groups.ts';
import { recordBits, removalFlag, type SubjectKey, sameKey } from './row.ts';

/** The number of the posts' collection in the file that a query runs in; NULL where it holds no post. */
const posts = `(SELECT id FROM main.collection WHERE name = '${postCollection}')`;

/** SQL that gives what a row is about, as its index in `targetKinds`; `posts` gives the number of the posts' collection. */
export function targetSqlOf(posts: string): string {
  return `CASE WHEN flags & ${recordBits} = 0 THEN 0 WHEN collection = ${posts} THEN 1 ELSE 2 END`;
}

/** SQL that gives what a row is about, looking the posts' collection up in the file. */
export const targetSql = targetSqlOf(posts);

/** SQL conditions of a filter, with parameters. Looks up the numbers of texts in the file's names. */
export function filterSql(
  { labeler, value, removed, target }: AccountFilter,
  numberOf: (table: 'source' | 'val', text: string) => number | null,
  targetIn: string,
): { readonly sql: string; readonly parameters: readonly (number | null)[] } {
  let sql = '';
  const parameters: (number | null)[] = [];
  if (labeler !== undefined) {
    sql += ' AND source = ?';
    parameters.push(numberOf('source', labeler));
  }
  if (value !== undefined) {
    sql += ' AND val = ?';
    parameters.push(numberOf('val', value));
  }
  if (removed !== undefined) sql += ` AND flags & ${removalFlag} ${removed ? '<>' : '='} 0`;
  if (target !== undefined) sql += ` AND ${targetIn} = ${targetKinds.indexOf(target)}`;
  return { sql, parameters };
}

/** SQL of the two counts of a group of rows. */
export const countsSql = `sum(flags & ${removalFlag} = 0), sum(flags & ${removalFlag} <> 0)`;

/** Kept groups that are read of one subject's day; of one with more, the rows are counted as far as the budget goes. */
export const mostGroups = 5_000;

/** SQL that counts the rows of one subject, in the order of their groups. */
export const countedSql = `SELECT source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject = ? GROUP BY source, val, target ORDER BY source, val, target`;

/** SQL that counts the rows of every subject with many rows, subject by subject. */
export const busySql = `SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject IN (SELECT subject FROM main.observation GROUP BY subject HAVING count(*) >= ${busyRows})
  GROUP BY subject, source, val, target ORDER BY subject, source, val, target`;

/** One subject's groups in order; of more than `mostGroups` only so many that this can be told. */
export interface BusySubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}

/** Takes rows in the order of subjects together. */
export function* bySubject(rows: Iterable<readonly [SubjectKey, ...Group]>): Generator<BusySubject> {
  let last: { readonly subject: SubjectKey; readonly groups: Group[] } | null = null;
  for (const [subject, ...group] of rows) {
    if (last === null || !sameKey(last.subject, subject)) {
      if (last) yield last;
      last = { subject, groups: [] };
    }
    if (last.groups.length <= mostGroups) last.groups.push(group);
  }
  if (last) yield last;
}

/** Seed of the checksum of a subject's packed groups, so that another subject's groups do not match. */
export function groupsSeed(subject: SubjectKey): number {
  return crc32(subject, typeof subject === 'string' ? 1 : 2);
}

/** Keeps them in a sealed day that has all its rows, but for subjects with more groups than anybody reads. */
export function countBusy(db: Sqlite): void {
  const rows = db.prepare<[], [SubjectKey, ...Group]>(busySql).raw();
  // Packed at once, and inserted behind the query, which holds the connection.
  const packed: (readonly [SubjectKey, Buffer])[] = [];
  for (const { subject, groups } of bySubject(rows.iterate())) {
    if (groups.length <= mostGroups) packed.push([subject, packGroups(groups, groupsSeed(subject))]);
  }
  const insert = db.prepare('INSERT INTO main.busy_groups(subject, packed) VALUES (?, ?)');
  db.transaction(() => {
    for (const [subject, groups] of packed) insert.run(subject, groups);
  })();
}
