import { formatTimestamp } from '../../contract/timestamp.ts';
import { OperatorError } from '../../ops/errors.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { restore } from '../../store/open.ts';
import { micros } from '../../store/time.ts';
import type { CommandContext } from '../command.ts';
import type { labelsSettings } from './labels-settings.ts';

/**
 * Restores the store from a backup after verifying the backup, and records a gap for the time that the backup does not
 * cover.
 */
export async function restoreFrom(
  { store }: Values<typeof labelsSettings>,
  print: CommandContext['print'],
  [from]: readonly string[],
): Promise<number> {
  if (from === undefined)
    throw new OperatorError('restore requires the directory of the backup: almanac labels restore FROM');
  try {
    const onFile = ({ name, action, reason }: { name: string; action: string; reason: string }) =>
      print(`${name}: ${action.replace('_', ' ')}: ${reason}`);
    const { days, lost, gap } = await restore(store, { from, at: micros(Date.now() * 1000), onFile });
    for (const { day, rows, unverified } of days) print(`${day} ${rows} rows${unverified ? ' unverified' : ''}`);
    for (const day of lost) print(`${day} is not in the backup and is recorded as a gap`);
    if (gap) print(`a gap from ${formatTimestamp(gap.start / 1000)} to ${formatTimestamp(gap.end / 1000)}`);
    print(`restored ${store} from ${from}; start almanac labels, and restart almanac account`);
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`cannot restore ${store} from ${from}: ${error.message}`);
  }
}
