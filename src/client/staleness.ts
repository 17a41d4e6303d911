/**
 * Rules that detect an expired response. A cache that serves expired responses on errors (Apache `CacheStaleOnError`,
 * nginx `proxy_cache_use_stale`) hands out the last 200 response in place of each refusal, without an `Age`. The times
 * in its body remain: they prove its age.
 */
import { within } from './reading.ts';

/** Tolerance for the difference between two clocks, in milliseconds. */
export const clockToleranceMs = 60_000;

/** Time for which the service itself sends the same representation, in milliseconds: one age bucket of its ETag. */
const representationMs = 60_000;

/** Time for which the client relies on the clock that the `Date` of a refusal stated, in milliseconds. */
const toldMs = 15 * 60_000;

/** Fields of a response that prove its age. */
export interface Dated {
  readonly retrieved_at?: unknown;
  readonly age_seconds?: unknown;
  readonly freshness?: unknown;
}

/** Reason why a response does not describe the present. */
export interface Staleness {
  /**
   * `expired`: the response was built longer ago than caches may keep it. `older_than_bound`: the artifact or its
   * collection exceeds the limit at which the service refuses it. `refused_since`: the service has refused the fact
   * after it built the response.
   */
  readonly reason: 'expired' | 'older_than_bound' | 'refused_since';
  /**
   * Age in whole seconds: of the response (`expired`), of the artifact or its collection (`older_than_bound`), or of the
   * response at the refusal (`refused_since`).
   */
  readonly ageSeconds: number;
  /** Maximum of that age in whole seconds, without the tolerance for clocks. */
  readonly limitSeconds: number;
  /** Clock that determined the age. `service`: the times that the service stated in other responses. */
  readonly clock: 'client' | 'service';
  /**
   * Seconds by which this client's clock may be ahead of the service's: if no cache is in between, it is ahead by this
   * time. For the clock `service`: the difference that the last refusal stated. Null if it is not known.
   */
  readonly clockAheadSeconds: number | null;
}

/**
 * The service's clock, as far as its responses state it. A cached response states an earlier time than the present, so
 * only the `Date` of a refusal, which no cache keeps, states the present time. Each `retrieved_at` proves only that the
 * service's clock has reached that time.
 */
export class ServiceClock {
  /** Latest `retrieved_at`, and the time at which it first arrived on this client's clock. */
  latest: { readonly retrievedAt: number; readonly at: number } | null = null;
  /** Time by which this client's clock is ahead according to the last refusal, and the time of its arrival. */
  told: { readonly aheadMs: number; readonly at: number } | null = null;
}

/** Judges the responses of one fact. */
export class ReceiptJudge {
  readonly #clock: ServiceClock;
  readonly #hasBound: boolean;
  #refusedAt = 0;

  /**
   * `hasBound` is true if the service refuses the fact once its artifact exceeds the limits in `freshness`, as for facts
   * about labels.
   */
  constructor(clock: ServiceClock, hasBound: boolean) {
    this.#clock = clock;
    this.#hasBound = hasBound;
  }

  /**
   * Records a refusal of the fact that arrived at `now` on this client's clock. Earlier responses are no longer valid.
   * Ignores a refusal that has no valid `Date`, or may have been kept by a cache.
   */
  refused(headers: Headers, now: number): void {
    const clock = this.#clock;
    const date = Date.parse(headers.get('date') ?? '');
    // Some caches state the age 0 in responses that they pass on without storing them.
    const isDirect = /\bno-store\b/i.test(headers.get('cache-control') ?? '') && Number(headers.get('age')) === 0;
    if (Number.isNaN(date) || !isDirect) return;
    clock.told = { aheadMs: now - date, at: now };
    // A `Date` is in whole seconds: a response that arrived earlier may have been built later in the same second.
    this.#refusedAt = Math.max(date, (clock.latest?.retrievedAt ?? 0) + 1);
  }

  /**
   * Returns the reason why a response does not describe the present at `now`, a time on this client's clock; null if it
   * does, or if it does not state when it was built. Caches may keep the response for `lifetimeMs`. Call this function at
   * the arrival, and again without headers for a kept response.
   */
  staleness(value: Dated, headers: Headers | null, lifetimeMs: number, now: number): Staleness | null {
    const retrievedAt = typeof value.retrieved_at === 'string' ? Date.parse(value.retrieved_at) : Number.NaN;
    if (Number.isNaN(retrievedAt)) return null;
    const state = this.#clock;
    if (state.latest === null || retrievedAt > state.latest.retrievedAt) state.latest = { retrievedAt, at: now };
    const told = state.told !== null && within(state.told.at, toldMs, now) ? state.told.aheadMs : null;
    const byClock = now - (told ?? 0) - retrievedAt;
    // A clock that is behind does not hide the age: a later response and the time since its arrival prove it too.
    const byResponses = state.latest.retrievedAt - retrievedAt + Math.max(0, now - state.latest.at);
    const elapsedMs = Math.max(0, byClock, byResponses);
    const limitMs = representationMs + lifetimeMs;
    const clock = told !== null || byResponses > byClock ? 'service' : 'client';
    const found = (reason: Staleness['reason'], ageMs: number, maxMs: number): Staleness => {
      const aheadMs = clock === 'client' ? now - sentAt(headers, retrievedAt, limitMs) : told;
      const clockAheadSeconds = aheadMs === null ? null : wholeSeconds(aheadMs);
      return { reason, clock, ageSeconds: wholeSeconds(ageMs), limitSeconds: wholeSeconds(maxMs), clockAheadSeconds };
    };
    if (retrievedAt < this.#refusedAt) return found('refused_since', this.#refusedAt - retrievedAt, 0);
    for (const [age, limit] of this.#hasBound ? boundedAges(value) : []) {
      const [ageMs, boundMs] = [age * 1000 + elapsedMs, limit * 1000];
      if (ageMs > boundMs + clockToleranceMs) return found('older_than_bound', ageMs, boundMs);
    }
    return elapsedMs > limitMs + clockToleranceMs ? found('expired', elapsedMs, limitMs) : null;
  }
}

/** Describes the staleness of the response for `path`, and what to do about it. */
export function describeStaleness(path: string, staleness: Staleness): string {
  const { reason, ageSeconds: age, limitSeconds: limit, clock, clockAheadSeconds: ahead } = staleness;
  const found = {
    expired: `the response was built ${age} s ago, but caches may keep it for ${limit} s`,
    older_than_bound: `the artifact is ${age} s old, but the service refuses it after ${limit} s`,
    refused_since: `the service refused this fact ${age} s after it built the response`,
  }[reason];
  const [doubt, remedy] = clock === 'client' ? ['if no cache is in between, ', ': correct it'] : ['', ''];
  const difference =
    ahead === null
      ? ''
      : `; ${doubt}this client's clock is ${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} the service's${remedy}`;
  return `${path}: ${found}; a cache serves expired responses: disable that (nginx: proxy_cache_use_stale off; Apache: CacheStaleOnError off)${difference}`;
}

/** Returns the ages that the limits of a label fact apply to, at `retrieved_at`, each with its limit, in seconds. */
function boundedAges(value: Dated): [age: number, limit: number][] {
  const freshness: Readonly<Record<string, unknown>> = Object(value.freshness);
  const pairs = [
    [value.age_seconds, freshness.max_age_seconds],
    [freshness.collection_age_seconds, freshness.collection_max_age_seconds],
  ];
  return pairs.flatMap(([age, limit]) =>
    typeof age === 'number' && typeof limit === 'number' ? [[age, limit] as [number, number]] : [],
  );
}

/** Returns the time at which a response was sent according to its `Date`, or built if its `Date` is inconsistent. */
function sentAt(headers: Headers | null, retrievedAt: number, limitMs: number): number {
  const date = Date.parse(headers?.get('date') ?? '');
  // A `Date` is in whole seconds.
  const isConsistent = date > retrievedAt - 1000 && date <= retrievedAt + limitMs;
  return isConsistent ? Math.max(date, retrievedAt) : retrievedAt;
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
