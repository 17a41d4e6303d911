import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';

/** Runs the store's upkeep, and logs days that could not be sealed. */
export async function maintainStore(store: Pick<StoreWriter, 'maintain'>, at: Micros, log: Log): Promise<void> {
  const { postponed } = await store.maintain(at);
  if (postponed.length > 0)
    log.warn('some days of the store could not be sealed; sealing will be retried', { days: postponed.join(' ') });
}
