import type { Readable, Reading } from '../artifact/reading.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { LabelFreshness } from '../contract/freshness.ts';
import type { Representation } from './representation.ts';

/** Result of a fact endpoint at one instant. */
export type Outcome =
  | { readonly kind: 'served'; readonly representation: Representation }
  | {
      readonly kind: 'refused';
      /** Error code of the refusal. `internal_error`: the fact could not be built; the log states the reason. */
      readonly code: Extract<ErrorCode, 'source_unavailable' | 'source_stale' | 'source_held' | 'internal_error'>;
      readonly freshness?: LabelFreshness;
    };

/** A fact endpoint: a function of the time (milliseconds since 1970), evaluated at every request. */
export type FactResource = (now: number) => Outcome;

/**
 * Creates a function that caches the representation of the last requested artifact and age bucket. A failed build is
 * also cached: the same error is thrown again, so that clients cannot trigger repeated builds.
 */
export function keepOne<A>(build: (readable: Readable<A>, bucket: number, now: number) => Representation) {
  let kept: { reading: Reading<A>; bucket: number; builtAt: number; built: () => Representation } | undefined;
  return (reading: Readable<A>, bucket: number, now: number): Representation => {
    // Build again if the clock was set back, because a response must not contain future times.
    if (kept?.reading !== reading || kept.bucket !== bucket || now < kept.builtAt) {
      kept = { reading, bucket, builtAt: now, built: attempt(() => build(reading, bucket, now)) };
    }
    return kept.built();
  };
}

function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Creates a function that caches its last result. It computes a new result only if its argument is a different object.
 */
export function oncePer<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  let last: { key: K; value: V } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}

/**
 * Wraps a resource so that a failed build becomes a refusal. Calls `alarm` once for each failure, however many requests
 * encounter it.
 */
export function refusing(resource: FactResource, alarm: (error: unknown) => void): FactResource {
  let alarmed: unknown;
  return (now) => {
    try {
      return resource(now);
    } catch (error) {
      if (error !== alarmed) alarm(error);
      alarmed = error;
      return { kind: 'refused', code: 'internal_error' };
    }
  };
}
