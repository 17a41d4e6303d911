import { setTimeout as delay } from 'node:timers/promises';
import { StoreBusy } from './reading-pool.ts';

/** Number of attempts of work under way at a busy store before it is abandoned. */
const maxAttempts = 5;

/** Repeats a turn that could not be had while the store is busy: what was done before would be lost. */
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
