import { crc32 } from 'node:zlib';
import { targetKinds } from '../../../contract/vocabulary.ts';
import type { AccountFilter } from '../../port.ts';
import { postCollection } from '../../subject.ts';
import type { Sqlite } from '../base/connection.ts';
import { recordBits, removalFlag, type SubjectKey, sameKey } from '../base/row.ts';
import { hotRows } from '../schema/day-schema.ts';
import type { Group } from './group.ts';
import { packGroups } from './packed-groups.ts';

/** SQL of the number of the post collection in the queried file; NULL if the file has no post. */
const posts = `(SELECT id FROM main.collection WHERE name = '${postCollection}')`;

/**
 * Returns SQL of a row's target, as its index in `targetKinds`; `posts` is SQL of the number of the post collection.
 */
export function targetSqlOf(posts: string): string {
  return `CASE WHEN flags & ${recordBits} = 0 THEN 0 WHEN collection = ${posts} THEN 1 ELSE 2 END`;
}

/** SQL of a row's target that looks up the post collection in the file. */
export const targetSql = targetSqlOf(posts);

/** Returns SQL conditions of a filter, with parameters. Looks up the numbers of texts in the file's names. */
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

/**
 * Maximum number of stored groups that are read of one subject's day; beyond it, rows are counted within the budget.
 */
export const maxGroups = 5_000;

/** SQL that counts the rows of one subject, in the order of their groups. */
export const countedSql = `SELECT source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject = ? GROUP BY source, val, target ORDER BY source, val, target`;

/** SQL that counts the rows of every subject with many rows, subject by subject. */
export const hotSubjectsSql = `SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject IN (SELECT subject FROM main.observation GROUP BY subject HAVING count(*) >= ${hotRows})
  GROUP BY subject, source, val, target ORDER BY subject, source, val, target`;

/** One subject's groups in order; if there are more than `maxGroups`, only enough of them to show that. */
export interface HotSubject {
  readonly subject: SubjectKey;
  readonly groups: readonly Group[];
}

/** Groups rows that are sorted by subject. */
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

/** Returns the seed for the checksum of a subject's packed groups, so that another subject's groups do not match. */
export function groupsSeed(subject: SubjectKey): number {
  return crc32(subject, typeof subject === 'string' ? 1 : 2);
}

/** Stores the groups of a complete sealed day, except for subjects with too many groups to read. */
export function storeGroups(db: Sqlite): void {
  const rows = db.prepare<[], [SubjectKey, ...Group]>(hotSubjectsSql).raw();
  // Inserted after the query, which occupies the connection.
  const packed: (readonly [SubjectKey, Buffer])[] = [];
  for (const { subject, groups } of bySubject(rows.iterate())) {
    if (groups.length <= maxGroups) packed.push([subject, packGroups(groups, groupsSeed(subject))]);
  }
  const insert = db.prepare('INSERT INTO main.busy_groups(subject, packed) VALUES (?, ?)');
  db.transaction(() => {
    for (const [subject, groups] of packed) insert.run(subject, groups);
  })();
}
