import { setTimeout as delay } from 'node:timers/promises';

/** Options for a poller; all times in milliseconds. */
interface PollerOptions {
  /** Makes one attempt. Must not reject. */
  readonly poll: () => Promise<void>;
  /** Interval between two attempts. */
  readonly pollMs: number;
  /** Maximum time for which `start` waits for the first attempt. */
  readonly firstMs: number;
  /** Signal that ends the polling. The owner must abort the signal before awaiting `finished`. */
  readonly signal: AbortSignal;
}

/** Background work that is repeated until its signal aborts. */
export interface Poller {
  /** Starts polling. Resolves after the first attempt, or after `firstMs` if that takes longer. */
  start(): Promise<void>;
  /** Resolves when no attempt is running and none will follow. */
  finished(): Promise<void>;
}

/** Creates a poller. It does not poll before `start`, and its timers do not keep the process running. */
export function createPoller({ poll, pollMs, firstMs, signal }: PollerOptions): Poller {
  let polling: Promise<void> = Promise.resolve();
  const repeat = async (first: Promise<void>): Promise<void> => {
    await first;
    while (!signal.aborted) {
      await delay(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await poll();
    }
  };
  return {
    async start() {
      const first = poll();
      polling = repeat(first);
      await Promise.race([first, delay(firstMs, undefined, { ref: false })]);
    },
    finished: () => polling,
  };
}
