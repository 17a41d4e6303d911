import type { LabelArtifact } from '../artifact/recognise.ts';
import type { LabelFreshness } from '../contract/envelope.ts';
import { futureToleranceSeconds } from '../contract/limits.ts';
import { type Micros, microsFromMillis, parseTimestamp, secondsBetween } from '../contract/timestamp.ts';
import type { FreshnessBasis, FreshnessState } from '../contract/vocabulary.ts';

/**
 * Rules for label freshness, a pure function of the artifact and the request's clock. The states are tested in the
 * order of the contract: unavailable, held, stale, warming_up, fresh. The first state that applies is the result.
 */

/** Maximum ages, set by the operator, in seconds. */
export interface FreshnessBounds {
  readonly maxAgeSeconds: number;
  readonly collectionMaxAgeSeconds: number;
}

/**
 * Parts of a label artifact that determine its freshness. They are extracted once per artifact and evaluated at every
 * request.
 */
interface LabelEvidence {
  /** Time of the artifact; null if it is absent or not a valid timestamp. */
  readonly generatedAt: Micros | null;
  /** Time of the latest accepted page; `not_recorded` for the legacy producer, which has no collection clock. */
  readonly collection: { readonly observedThrough: Micros | null } | 'not_recorded';
  readonly held: boolean;
  readonly warming: boolean;
}

/** Result of the freshness rules: whether the fact may be served, and the Freshness object for the response. */
export type Judgement =
  | { readonly servable: true; readonly ageSeconds: number; readonly freshness: LabelFreshness }
  | {
      readonly servable: false;
      readonly state: 'stale' | 'held' | 'unavailable';
      readonly freshness: LabelFreshness;
    };

/** Extracts the parts that determine freshness from either label artifact. */
export function labelEvidence(artifact: LabelArtifact): LabelEvidence {
  const { overview } = artifact;
  const common = { generatedAt: parseTimestamp(overview.generated_at), held: overview.hold === true };
  if (artifact.schema === '23') return { ...common, collection: 'not_recorded', warming: false };
  const { coverage, window_days } = artifact.overview;
  return {
    ...common,
    collection: { observedThrough: parseTimestamp(coverage.observed_through) },
    warming: coverage.warmup !== null || coverage.observed_days < window_days,
  };
}

/** Computes the freshness of a readable label artifact at `now` (milliseconds since 1970). */
export function judgeLabels(evidence: LabelEvidence, bounds: FreshnessBounds, now: number): Judgement {
  const age = usableAge(evidence.generatedAt, now);
  const collectionAge =
    evidence.collection === 'not_recorded' ? undefined : usableAge(evidence.collection.observedThrough, now);
  const { state, basis } = verdict(evidence, bounds, age, collectionAge);
  const freshness: LabelFreshness = {
    state,
    age_seconds: age,
    basis,
    max_age_seconds: bounds.maxAgeSeconds,
    ...(collectionAge === undefined
      ? {}
      : { collection_age_seconds: collectionAge, collection_max_age_seconds: bounds.collectionMaxAgeSeconds }),
  };
  if (age !== null && (state === 'fresh' || state === 'warming_up')) {
    return { servable: true, ageSeconds: age, freshness };
  }
  return { servable: false, state: state === 'stale' || state === 'held' ? state : 'unavailable', freshness };
}

/**
 * Returns the first state that applies, in the order of the contract. `collectionAge` is undefined if the producer has
 * no collection clock.
 */
function verdict(
  evidence: LabelEvidence,
  bounds: FreshnessBounds,
  age: number | null,
  collectionAge: number | null | undefined,
): { state: FreshnessState; basis: FreshnessBasis } {
  if (age === null) return { state: 'unavailable', basis: 'artifact_generated_at' };
  if (collectionAge === null) return { state: 'unavailable', basis: 'collection_observed_through' };
  if (evidence.held) return { state: 'held', basis: 'artifact_generated_at' };
  if (age > bounds.maxAgeSeconds) return { state: 'stale', basis: 'artifact_generated_at' };
  if (collectionAge !== undefined && collectionAge > bounds.collectionMaxAgeSeconds) {
    return { state: 'stale', basis: 'collection_observed_through' };
  }
  return { state: evidence.warming ? 'warming_up' : 'fresh', basis: 'artifact_generated_at' };
}

/** Returns the age in seconds; null if the time is absent, invalid or too far in the future. */
function usableAge(at: Micros | null, now: number): number | null {
  if (at === null) return null;
  const age = ageSeconds(at, now);
  return age < -futureToleranceSeconds ? null : age;
}

/** Returns the exact age in seconds at `now` (milliseconds since 1970). The age of a future instant is negative. */
export function ageSeconds(at: Micros, now: number): number {
  return secondsBetween(at, microsFromMillis(now));
}
