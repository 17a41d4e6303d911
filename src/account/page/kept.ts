/** Reading something may take so much of the time at most: one in a hundred. */
const rarest = 100;

/**
 * Reads something once for all who ask within `ms` milliseconds, and later where reading took long. `monotonic` gives
 * milliseconds.
 */
export function kept<Asked extends readonly unknown[], T>(
  { ms, monotonic }: { readonly ms: number; readonly monotonic: () => number },
  read: (...asked: Asked) => Promise<T>,
): (...asked: Asked) => Promise<T> {
  let last: Promise<T> | null = null;
  let until = 0;
  return (...asked) => {
    if (last && monotonic() < until) return last;
    const began = monotonic();
    until = Number.POSITIVE_INFINITY;
    const reading = read(...asked);
    last = reading;
    reading.then(
      () => {
        until = began + Math.max(ms, rarest * (monotonic() - began));
      },
      // A failure is told to those who wait for it, and asked again by the next.
      () => {
        last = null;
      },
    );
    return reading;
  };
}
