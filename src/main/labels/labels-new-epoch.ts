import { OperatorError } from '../../ops/errors.ts';
import type { Values } from '../../ops/setting.ts';
import { StoreError } from '../../store/errors.ts';
import { setAside } from '../../store/open.ts';
import type { CommandContext } from '../command.ts';
import type { labelsSettings } from './labels-settings.ts';

/**
 * Moves the day files and the state file aside, so that the next start begins a new epoch. Deletes nothing. Rejects
 * with OperatorError if the store cannot be moved.
 */
export async function newEpoch(
  { store }: Values<typeof labelsSettings>,
  print: CommandContext['print'],
): Promise<number> {
  try {
    const done = setAside(store, new Date());
    if (done === null) {
      print(`the store ${store} is empty: the next start of almanac labels begins its epoch`);
      return 0;
    }
    print(`moved to ${done.directory}; nothing was deleted:`);
    for (const name of done.moved) print(`  ${name}`);
    print('the next start of almanac labels begins a new epoch, with a warm-up as long as the window');
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`no new epoch in ${store}: ${error.message}`);
  }
}
