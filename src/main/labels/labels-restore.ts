import { formatTimestamp } from '../../contract/timestamp.ts';
import { changeDenyFile, requireDenyList } from '../../labels/operator/deny-file.ts';
import { DenyList } from '../../labels/operator/deny-list.ts';
import { OperatorError } from '../../ops/errors.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { companionFolder, restore } from '../../store/open.ts';
import { micros } from '../../store/time.ts';
import type { CommandContext } from '../command.ts';
import type { labelsSettings } from './labels-settings.ts';

/**
 * Restores the store from a backup after verifying the backup, and records a gap for the time that the backup does
 * not cover. Adds the denials of the backup to the denials of the store. Rejects with OperatorError if no backup is
 * given or the backup cannot be restored.
 */
export async function restoreFrom(
  { store, state }: Values<typeof labelsSettings>,
  print: CommandContext['print'],
  [from]: readonly string[],
): Promise<number> {
  if (from === undefined)
    throw new OperatorError('restore requires the directory of the backup: almanac labels restore FROM');
  const denials = companionFolder(store, state);
  // Check both lists of denials first: a damaged list that is found only during the restore would leave it
  // unfinished.
  const [denied] = [await requireDenyList(from), await requireDenyList(denials)];
  try {
    const onFile = ({ name, action, reason }: { name: string; action: string; reason: string }) =>
      print(`${name}: ${action.replace('_', ' ')}: ${reason}`);
    const beforeMove = () => addDenials(denials, denied);
    const { days, lost, gap } = await restore(store, { from, at: micros(Date.now() * 1000), onFile, beforeMove });
    for (const { day, rows, unverified } of days)
      print(`${day}: ${rows} rows restored${unverified ? '; the day has no checksums yet' : ''}`);
    for (const day of lost) print(`${day} is not in the backup and is recorded as a gap`);
    if (gap) print(`a gap is recorded from ${formatTimestamp(gap.start / 1000)} to ${formatTimestamp(gap.end / 1000)}`);
    if (denied.entries.length > 0)
      print(`denied labelers and domains in the backup: ${denied.entries.length}; they are denied again`);
    print(`restored ${store} from ${from}; start almanac labels, and restart almanac account`);
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`cannot restore ${store} from ${from}: ${error.message}`);
  }
}

/** Adds denials to the list of a store. */
async function addDenials(folder: string, denied: DenyList): Promise<void> {
  if (denied.entries.length > 0) await changeDenyFile(folder, (list) => merged(list, denied));
}

/** Returns `list` with additional entries. Entries that are already in `list` stay unchanged. */
function merged(list: DenyList, { entries }: DenyList): DenyList {
  return new DenyList([...list.entries, ...entries.filter(({ target }) => list.entryOf(target) === null)]);
}
