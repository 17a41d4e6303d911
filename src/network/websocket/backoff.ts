/** Settings of a backoff. */
export interface BackoffOptions {
  /** Upper bound of the first wait, in milliseconds; it doubles with each further wait. */
  readonly firstMs: number;
  /** Upper bound of every wait, in milliseconds. */
  readonly capMs: number;
  /** Returns a random number in [0, 1), like `Math.random`. */
  readonly random: () => number;
}

/** Generator of waiting times between attempts. */
export interface Backoff {
  /** Returns the next wait, in whole milliseconds. */
  next(): number;
  /** Restarts the sequence after a stable connection, so that the upper bound of the next wait is `firstMs` again. */
  reset(): void;
}

/**
 * Creates an exponential backoff with full jitter: each wait is drawn uniformly from zero to its maximum, so that
 * clients disconnected at the same moment do not reconnect at the same moment.
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
