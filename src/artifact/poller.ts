import { setTimeout as delay } from 'node:timers/promises';

/** Options for a poller; all times in milliseconds. */
export interface PollerOptions {
  /** Makes one attempt. Must not reject. */
  readonly poll: () => Promise<void>;
  /** Interval between two attempts. */
  readonly pollMs: number;
  /** Maximum time for which `start` waits for the first attempt. */
  readonly firstMs: number;
  /** Ends the attempts. The owner aborts it before `finished`. */
  readonly signal: AbortSignal;
}

/** Background work that is repeated until its signal aborts. */
export interface Poller {
  /** Starts the attempts. Resolves after the first one, or after the maximum wait for it. */
  start(): Promise<void>;
  /** Resolves when no attempt is under way and none will follow. */
  finished(): Promise<void>;
}

/** Creates a poller, which neither polls before `start` nor keeps the process running. */
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
