import { readdirSync } from 'node:fs';
import { unfinishedCopy } from '../../common/moved.ts';
import { StoreError } from '../../errors.ts';

/** Suffix of a directory or file that belongs to an unfinished move, restore or copy. */
export const unfinished = '.unfinished';
/** Directory into which a backup is copied, and in which it is verified, before its files are moved into the store. */
export const copyingName = 'restore-copy.unfinished';
/**
 * Directory with a complete and verified copy of a backup. Once it exists, the restore can only be completed, not
 * undone.
 */
export const copiedName = 'restore-move.unfinished';

/** Marker file of a directory that is the target of an unfinished copy of another store. */
export const storeCopyName = 'store-copy.unfinished';

/**
 * Throws `damaged` if a move of the store's files was interrupted, which leaves the directory incomplete, and
 * `unfinished_copy` if the directory is the target of an unfinished copy.
 */
export function assertNoInterruptedMove(folder: string): void {
  const found = readdirSync(folder).find((name) => name.endsWith(unfinished));
  if (found === undefined) return;
  if (found === storeCopyName) throw unfinishedCopy(folder);
  const again = found === copyingName || found === copiedName ? 'restore FROM' : 'new-epoch';
  throw new StoreError(
    'damaged',
    `${folder}/${found} belongs to an interrupted command: run almanac labels ${again} again`,
  );
}
