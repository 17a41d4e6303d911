import type { HandleResolution } from '../../network/identity/identity.ts';
import type { FindHandle } from './pages.tsx';

/** Time for which a result is cached, in milliseconds. */
const ttlMs = 60_000;
/** Time for which a failure is cached, in milliseconds: a later attempt may succeed, but must not follow at once. */
const failureTtlMs = 5_000;
/** Maximum number of cached results. A cache with more results drops the oldest one. */
const maxEntries = 10_000;

/**
 * Caches the results of `find` for a minute, and failures for five seconds. Otherwise any client could cause any number
 * of requests to a host by naming it. `clock` returns a monotonic clock in milliseconds.
 */
export function cacheHandles(find: FindHandle, clock: () => number): FindHandle {
  const results = new Map<string, { readonly result: HandleResolution; readonly until: number }>();

  function keep(name: string, result: HandleResolution): void {
    results.delete(name);
    results.set(name, { result, until: clock() + (result.kind === 'failed' ? failureTtlMs : ttlMs) });
    const [oldest] = results.keys();
    if (results.size > maxEntries && oldest !== undefined) results.delete(oldest);
  }

  return async (handle, signal) => {
    const name = handle.toLowerCase();
    const known = results.get(name);
    if (known && clock() < known.until) return known.result;
    const result = await find(name, signal);
    // A look-up that its client has abandoned says nothing about the handle.
    if (!signal.aborted) keep(name, result);
    return result;
  };
}
