import { setTimeout as delay } from 'node:timers/promises';
import { StoreBusy } from './reading-pool.ts';

/** Maximum number of attempts for a turn while the store is busy. */
const maxAttempts = 5;

/**
 * Runs a turn, up to `maxAttempts` times while the store is busy. Rejects with `StoreBusy` after the last attempt or if
 * the client disconnects. For use after the first turn of a request: a failure would discard the results of the earlier
 * turns.
 */
export async function patiently<T>(turn: () => Promise<T>, gone: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await turn();
    } catch (error) {
      if (!(error instanceof StoreBusy) || attempt === maxAttempts) throw error;
      await delay(error.retryAfterSeconds * 1000, undefined, { signal: gone }).catch(() => undefined);
      if (gone.aborted) throw new StoreBusy('left', 1);
    }
  }
}
