/** Settings of a backoff. */
export interface BackoffOptions {
  /** Upper bound of the first wait, in milliseconds; doubles with each further one. */
  readonly firstMs: number;
  /** Upper bound of any wait, in milliseconds. */
  readonly capMs: number;
  /** A number in [0, 1), as `Math.random`. */
  readonly random: () => number;
}

/** Waiting times between attempts. */
export interface Backoff {
  /** The next wait, in whole milliseconds. */
  next(): number;
  /** After a success that lasted: the next wait is a first one again. */
  reset(): void;
}

/**
 * Exponential with full jitter: each wait is drawn evenly from zero to its bound, so that clients which lost one host
 * at the same moment do not come back at the same moment.
 */
export function createBackoff({ firstMs, capMs, random }: BackoffOptions): Backoff {
  let boundMs = Math.min(firstMs, capMs);
  return {
    next() {
      const wait = Math.floor(random() * boundMs);
      boundMs = Math.min(2 * boundMs, capMs);
      return wait;
    },
    reset() {
      boundMs = Math.min(firstMs, capMs);
    },
  };
}
