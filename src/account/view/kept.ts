/** Reciprocal of the maximum fraction of time spent reading a cached value: one per cent. */
const rarest = 100;

/**
 * Returns a function that caches the result of a read for `ms` milliseconds, or longer if the read was slow. All
 * arguments share the same cached value.
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
      // All waiting callers receive the rejection; the next call reads again.
      () => {
        last = null;
      },
    );
    return reading;
  };
}
