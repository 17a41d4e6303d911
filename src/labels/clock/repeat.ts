import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { wait } from './wait.ts';

/**
 * Runs `work` immediately, and again `ms` milliseconds after each run, until the signal aborts. Logs each failure, and
 * calls `fail` for a permanent failure of the store.
 */
export async function repeat(
  ms: number,
  work: () => Promise<unknown>,
  signal: AbortSignal,
  log: Log,
  fail: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // Ignore errors after the abort: unfinished work fails when the store is closed.
      if (signal.aborted) return;
      if (error instanceof StoreError && !error.retry) {
        log.error('a periodic task failed permanently', errorFields(error));
        fail(error);
      } else log.warn('a periodic task failed and will be retried', errorFields(error));
    }
    await wait(ms, signal);
  }
}
