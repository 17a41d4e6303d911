import { assertNotMoved, movedNote, unfinishedCopy } from '../../common/moved.ts';
import type { Queries } from '../base/session.ts';

/**
 * Table that marks an unfinished copy. The copy creates it, and drops it in the commit that makes the copy a store.
 * Until then the table `store` has no row.
 */
export const copyTable = 'store_copy';
/** Table with the copy progress of each day. */
export const copyDayTable = 'store_copy_day';

/** Returns true if the schema contains an unfinished copy. */
export async function isUnfinishedCopy(queries: Queries): Promise<boolean> {
  const [found] = await queries.rows<{ found: boolean }>(`SELECT to_regclass('${copyTable}') IS NOT NULL AS found`);
  return found?.found === true;
}

/** Throws `unfinished_copy` if the schema contains an unfinished copy. */
export async function assertFinished(queries: Queries, name: string): Promise<void> {
  if (await isUnfinishedCopy(queries)) throw unfinishedCopy(name);
}

/** Throws `moved` if the store was retired because a copy has replaced it. */
export async function assertNotRetired(queries: Queries): Promise<void> {
  const [row] = await queries.rows<{ content: string }>('SELECT content FROM note WHERE name = $1', [movedNote]);
  assertNotMoved(row?.content ?? null);
}
