import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { wait } from './wait.ts';

/** Does something at once and again and again; a failure that may pass is told, another ends the instrument. */
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
      // A store that is being closed ends what is under way.
      if (signal.aborted) return;
      if (error instanceof StoreError && !error.retry) fail(error);
      log.warn('a task failed and will be retried', errorFields(error));
    }
    await wait(ms, signal);
  }
}
