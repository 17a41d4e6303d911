import { readdirSync } from 'node:fs';
import { StoreError } from '../errors.ts';

/** Ends the name of a directory whose content is being moved out of the store, or into it. */
export const unfinished = '.unfinished';
/** Directory in which a backup is copied and verified before it is moved into place. */
export const copyingName = 'restore-copy.unfinished';
/** The same once it is complete: from then on a restore only goes forward. */
export const copiedName = 'restore-move.unfinished';

/** Throws `damaged` while a move of the store's files is cut short: what is there is a part. */
export function assertNoInterruptedMove(folder: string): void {
  const found = readdirSync(folder).find((name) => name.endsWith(unfinished));
  if (found === undefined) return;
  const again = found === copyingName || found === copiedName ? 'restore FROM' : 'new-epoch';
  throw new StoreError(
    'damaged',
    `${folder}/${found} belongs to an interrupted command: run almanac labels ${again} again`,
  );
}
