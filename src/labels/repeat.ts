import { errorFields, type Log } from '../ops/log.ts';
import { StoreError } from '../store/errors.ts';
import { wait } from './wait.ts';

/** Between tries to write what the store cannot take just now, in milliseconds. */
export const retryMs = 1_000;

/** Writes what cannot be left out, again and again while the disk is full or the file is held. */
export async function persist(work: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.retry) || signal.aborted) throw error;
    }
    await wait(retryMs, signal);
  }
}

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
      if (error instanceof StoreError && !error.retry) fail(error);
      log.warn('a task failed and is tried again', errorFields(error));
    }
    await wait(ms, signal);
  }
}
