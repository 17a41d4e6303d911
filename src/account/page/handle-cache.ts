import type { HandleResolution } from '../../network/identity/identity.ts';
import type { FindHandle } from './pages.tsx';

/** Time for which a result is cached, in milliseconds. */
const ttlMs = 60_000;
/** Time for which a failure is cached, in milliseconds: a later attempt may succeed, but must not follow at once. */
const failureTtlMs = 5_000;
/** Maximum number of cached results. A cache with more results drops the oldest one. */
const maxEntries = 10_000;

/** A cached result, and the time until which it is valid, by the cache's clock. */
interface Entry {
  readonly result: HandleResolution;
  readonly until: number;
}

/**
 * Caches the results of `find` for a minute, and failures for five seconds, so that repeated look-ups do not send
 * repeated requests to a host. Look-ups that their clients abandon are not cached: only the limits and the charge of
 * `LookUp` apply to them. `clock` returns a monotonic clock in milliseconds.
 */
export function cacheHandles(find: FindHandle, clock: () => number): FindHandle {
  const results = new Map<string, Entry>();

  function keep(name: string, result: HandleResolution): void {
    results.delete(name);
    results.set(name, { result, until: clock() + (result.kind === 'failed' ? failureTtlMs : ttlMs) });
    dropOldest(results, clock());
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

/**
 * Removes the oldest entries of a cache, in the order of their insertion, until it has at most `maxEntries` and the oldest
 * one is still valid. Thus no handle stays in memory for more than a minute if others are looked up.
 */
export function dropOldest(entries: Map<string, Pick<Entry, 'until'>>, now: number): void {
  for (const [name, { until }] of entries) {
    if (entries.size <= maxEntries && now < until) break;
    entries.delete(name);
  }
}
