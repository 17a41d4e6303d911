import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';

/** Resolves after `ms` milliseconds but at most about 24 days, or immediately when the signal aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    // A timer with a longer delay would fire immediately.
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
    signal.addEventListener('abort', done, { once: true });
  });
}

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
