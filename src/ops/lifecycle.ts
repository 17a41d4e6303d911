/** Everything must have stopped this long after the first signal, in milliseconds. */
export const stopWithinMs = 9_000;

/** What may stop a process from outside. */
export interface Signals {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  off(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

/**
 * Resolves at the first SIGTERM or SIGINT, after `stop` has run. Rejects when it fails or takes longer than
 * `stopWithinMs`: then something is stuck, and the process must say so with its exit code.
 */
export function stopOnSignal(stop: () => Promise<void>, signals: Signals = process): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = (): void => {
      signals.off('SIGTERM', asked);
      signals.off('SIGINT', asked);
      const stuck = setTimeout(() => reject(new Error(`did not stop within ${stopWithinMs} ms`)), stopWithinMs);
      stop()
        .then(resolve, reject)
        .finally(() => clearTimeout(stuck));
    };
    signals.on('SIGTERM', asked);
    signals.on('SIGINT', asked);
  });
}
