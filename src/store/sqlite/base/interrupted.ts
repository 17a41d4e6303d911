import { readdirSync } from 'node:fs';
import { unfinishedCopy } from '../../common/moved.ts';
import { StoreError } from '../../errors.ts';

/** Suffix of a directory whose content is being moved out of the store, or into it. */
export const unfinished = '.unfinished';
/** Directory in which a backup is copied and verified before its files are moved into the store. */
export const copyingName = 'restore-copy.unfinished';
/** Directory of a complete, verified copy. While it exists, a restore can only be continued, not undone. */
export const copiedName = 'restore-move.unfinished';

/** File of a directory into which another store is being copied. */
export const storeCopyName = 'store-copy.unfinished';

/** Throws `damaged` if a move of the store's files was interrupted: the directory is incomplete; `unfinished_copy` for a copy. */
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
