/**
 * Returns a function that shares one pending run among all callers. An aborted signal immediately rejects only its own
 * caller's promise. When the signals of all callers are aborted, the run is aborted, and the next caller starts a new
 * run.
 */
export function shared<T>(run: (signal: AbortSignal) => Promise<T>): (signal?: AbortSignal) => Promise<T> {
  let current: Run<T> | null = null;

  function begin(): Run<T> {
    const stop = new AbortController();
    const begun: Run<T> = { stop, callers: 0, result: run(stop.signal) };
    const over = (): void => {
      if (current === begun) current = null;
    };
    begun.result.then(over, over);
    current = begun;
    return begun;
  }

  return (signal) =>
    new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const joined = current ?? begin();
      joined.callers += 1;
      const leave = (): void => {
        reject(signal?.reason);
        joined.callers -= 1;
        if (joined.callers > 0) return;
        if (current === joined) current = null;
        joined.stop.abort(signal?.reason);
      };
      const stay = (): void => signal?.removeEventListener('abort', leave);
      signal?.addEventListener('abort', leave, { once: true });
      joined.result.then(resolve, reject).then(stay, stay);
    });
}

interface Run<T> {
  readonly stop: AbortController;
  callers: number;
  readonly result: Promise<T>;
}
