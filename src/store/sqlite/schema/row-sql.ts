import { targetKinds } from '../../../contract/vocabulary.ts';
import type { AccountFilter } from '../../port.ts';
import { postCollection } from '../../subject.ts';
import { recordBits, removalFlag } from '../base/row.ts';

/** SQL expression for the numeric id of the post collection in the queried file; NULL if the file has no posts. */
const posts = `(SELECT id FROM main.collection WHERE name = '${postCollection}')`;

/**
 * Returns the SQL expression for a row's target, as its index in `targetKinds`. `posts` is the SQL expression for the
 * numeric id of the post collection.
 */
export function targetSqlOf(posts: string): string {
  return `CASE WHEN flags & ${recordBits} = 0 THEN 0 WHEN collection = ${posts} THEN 1 ELSE 2 END`;
}

/** SQL expression for a row's target; looks up the post collection in the file. */
export const targetSql = targetSqlOf(posts);

/** SQL expressions for the numbers of applications and removals in a group of rows. */
export const countsSql = `sum(flags & ${removalFlag} = 0), sum(flags & ${removalFlag} <> 0)`;

/**
 * Returns the SQL conditions of a filter and their parameters. `numberOf` looks up the numeric id of a text in the
 * file.
 */
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
