import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';

/** Interval between two attempts, in milliseconds. */
const retryMs = 500;

/** Dependencies of `patientStore`. */
export interface PatientStoreOptions {
  readonly log: Log;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Wraps a store and repeats those changes of a takeover that the store rejects temporarily, as it does on a full disk,
 * until the signal aborts. Without the repetition, a takeover would lose the rows that the standby kept.
 */
export function patientStore(store: StoreWriter, { log, wait, signal }: PatientStoreOptions): StoreWriter {
  const repeated = async <T>(change: () => Promise<T>): Promise<T> => {
    for (let told = false; ; told = true) {
      try {
        return await change();
      } catch (error) {
        if (!(error instanceof StoreError && error.retry) || signal.aborted) throw error;
        if (!told)
          log.warn('the labels that this standby kept cannot be stored yet; storing them will be retried', {
            reason: error.code,
          });
        await wait(retryMs, signal);
      }
    }
  };
  return {
    ...store,
    append: (batch) => repeated(() => store.append(batch)),
    recordGap: (gap) => repeated(() => store.recordGap(gap)),
    changeGaps: (changes) => repeated(() => store.changeGaps(changes)),
    putKeys: (keys) => repeated(() => store.putKeys(keys)),
    putDefinitions: (revisions, shares) => repeated(() => store.putDefinitions(revisions, shares)),
  };
}
