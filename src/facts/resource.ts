import type { Readable, Reading } from '../artifact/reading.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { LabelFreshness } from '../contract/freshness.ts';
import type { Origin } from '../contract/vocabulary.ts';
import type { Representation } from './representation.ts';

/** Result of a fact endpoint at one instant. */
export type Outcome =
  | { readonly kind: 'served'; readonly representation: Representation }
  | {
      readonly kind: 'refused';
      /** Error code of the refusal. `internal_error`: the fact could not be built; the log states the reason. */
      readonly code: Extract<ErrorCode, 'source_unavailable' | 'source_stale' | 'source_held' | 'internal_error'>;
      readonly freshness?: LabelFreshness;
      /**
       * Origin of the refused artifact, or of the last artifact that was read before it; absent if none was read. A
       * refusal of simulated facts must not be shown as a refusal of live facts.
       */
      readonly origin?: Origin;
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
 * Creates a function that returns the origin of a reading: of the artifact, or of the last artifact that was read before
 * it if the reading has none. Returns an empty object if no artifact was read.
 */
export function lastOrigin<A>(
  originIn: (artifact: A) => Origin,
): (reading: Reading<A>) => { readonly origin?: Origin } {
  let last: { readonly origin?: Origin } = {};
  let known: Reading<A> | undefined;
  return (reading) => {
    if (reading.kind === 'readable' && reading !== known) last = { origin: originIn(reading.artifact) };
    known = reading;
    return last;
  };
}

/**
 * Wraps a resource so that a failed build becomes a refusal. Calls `alarm` once for each failure, however many requests
 * encounter it.
 */
export function refusing(resource: FactResource, alarm: (error: unknown) => void): FactResource {
  let alarmed: unknown;
  let last: { readonly origin?: Origin } = {};
  return (now) => {
    try {
      const outcome = resource(now);
      const origin =
        outcome.kind === 'served' ? (outcome.representation.envelope.provenance.origin ?? 'live') : outcome.origin;
      last = origin === undefined ? {} : { origin };
      return outcome;
    } catch (error) {
      if (error !== alarmed) alarm(error);
      alarmed = error;
      return { kind: 'refused', code: 'internal_error', ...last };
    }
  };
}
