import { targetKinds } from '../../../contract/vocabulary.ts';
import type { AccountFilter } from '../../port.ts';
import { postCollection } from '../../subject.ts';
import { recordBits, removalFlag } from '../base/row.ts';

/** SQL of the number of the post collection in the queried file; NULL if the file has no post. */
const posts = `(SELECT id FROM main.collection WHERE name = '${postCollection}')`;

/**
 * Returns SQL of a row's target, as its index in `targetKinds`; `posts` is the SQL of the number of the post
 * collection.
 */
export function targetSqlOf(posts: string): string {
  return `CASE WHEN flags & ${recordBits} = 0 THEN 0 WHEN collection = ${posts} THEN 1 ELSE 2 END`;
}

/** SQL of a row's target that looks up the post collection in the file. */
export const targetSql = targetSqlOf(posts);

/** SQL of the numbers of applications and removals in a group of rows. */
export const countsSql = `sum(flags & ${removalFlag} = 0), sum(flags & ${removalFlag} <> 0)`;

/** Returns the SQL conditions of a filter and their parameters. The numbers of texts are looked up in the file. */
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
