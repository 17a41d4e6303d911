/** Settings of a cache; all times in milliseconds. */
export interface SharedCacheOptions<T> {
  /** Lifetime of a value; 0: not cached. */
  readonly ttlOf: (value: T) => number;
  /** Beyond it the entry that was made longest ago is dropped. */
  readonly maxEntries: number;
  /** Milliseconds, from any origin. */
  readonly clock: () => number;
  /** Result for a caller that gave up before the value arrived. */
  readonly gaveUp: T;
}

/** A bounded cache in which those who ask for the same at the same time share one request. */
export interface SharedCache<T> {
  /**
   * The value of a key: kept, or on its way, or asked for with `ask`, which must not reject. `fresh` passes over what is
   * kept. The signal given to `ask` aborts when everybody who waits for it has given up.
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

/** Makes an empty one. */
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
      // An abandoned flight has been forgotten, and another may be under way in its place.
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
