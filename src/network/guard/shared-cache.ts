/** Settings of a shared cache; all times in milliseconds. */
interface SharedCacheOptions<T> {
  /** Returns the lifetime of a value in milliseconds, or 0 if the value must not be cached. */
  readonly ttlOf: (value: T) => number;
  /** Maximum number of entries. A cache with more entries drops the oldest one. */
  readonly maxEntries: number;
  /** Monotonic clock, in milliseconds. */
  readonly clock: () => number;
  /** Result for a caller that aborted before the value arrived. */
  readonly gaveUp: T;
}

/** A bounded cache in which concurrent callers for one key share one request. */
export interface SharedCache<T> {
  /**
   * Returns the value of a key: cached, pending, or requested with `ask`, which must not reject. `fresh` ignores a
   * cached value. The signal given to `ask` aborts when every waiting caller has aborted.
   */
  get(
    key: string,
    ask: (signal: AbortSignal) => Promise<T>,
    options: { signal: AbortSignal; fresh: boolean },
  ): Promise<T>;
}

interface Flight<T> {
  readonly value: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Creates an empty shared cache. */
export function createSharedCache<T>({ ttlOf, maxEntries, clock, gaveUp }: SharedCacheOptions<T>): SharedCache<T> {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  const flights = new Map<string, Flight<T>>();

  function keep(key: string, value: T): void {
    kept.delete(key);
    const ttlMs = ttlOf(value);
    if (ttlMs <= 0) return;
    kept.set(key, { value, until: clock() + ttlMs });
    const [oldest] = kept.keys();
    if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
  }

  function take(key: string): { readonly value: T } | null {
    const entry = kept.get(key);
    if (!entry) return null;
    if (clock() < entry.until) return entry;
    kept.delete(key);
    return null;
  }

  function start(key: string, ask: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const value = ask(stop.signal).then((result) => {
      // Remove only this request, because another request may be pending under the same key after this one was
      // abandoned.
      if (flights.get(key) === flight) {
        flights.delete(key);
        keep(key, result);
      }
      return result;
    });
    const flight = { value, stop, waiting: 0 };
    flights.set(key, flight);
    return flight;
  }

  return {
    async get(key, ask, { signal, fresh }) {
      if (signal.aborted) return gaveUp;
      const found = fresh ? null : take(key);
      if (found) return found.value;
      const flight = flights.get(key) ?? start(key, ask);
      flight.waiting += 1;
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          flight.waiting -= 1;
          if (flight.waiting === 0) {
            if (flights.get(key) === flight) flights.delete(key);
            flight.stop.abort();
          }
          resolve(gaveUp);
        };
        signal.addEventListener('abort', abort, { once: true });
        flight.value.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
      });
    },
  };
}
