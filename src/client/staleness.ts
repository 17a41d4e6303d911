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

/** Lifetime of a response, and the last refusal of its fact. */
export interface ReceiptTerms {
  /** Time for which caches may keep the response, in milliseconds. */
  readonly lifetimeMs: number;
  /** True if the service refuses the fact once its artifact exceeds the limits in `freshness`: facts about labels. */
  readonly hasBound: boolean;
  /** Time of the last refusal on the service's clock, in milliseconds since 1970; null if it is not known. */
  readonly refusedAt: number | null;
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
  #latest: { readonly retrievedAt: number; readonly at: number } | null = null;
  #told: { readonly aheadMs: number; readonly at: number } | null = null;

  /**
   * Records a refusal that arrived at `now` on this client's clock. Returns the time on the service's clock before which
   * a response of this fact is no longer valid; null if the refusal has no valid `Date`, or may come from a cache.
   */
  refused(headers: Headers, now: number): number | null {
    const date = Date.parse(headers.get('date') ?? '');
    const isDirect = /\bno-store\b/i.test(headers.get('cache-control') ?? '') && !headers.has('age');
    if (Number.isNaN(date) || !isDirect) return null;
    this.#told = { aheadMs: now - date, at: now };
    // A `Date` is in whole seconds: a response that arrived earlier may have been built later in the same second.
    return Math.max(date, this.#latest === null ? date : this.#latest.retrievedAt + 1);
  }

  /**
   * Returns the reason why a response does not describe the present at `now`, a time on this client's clock; null if it
   * does, or if it does not state when it was built. Call this function at the arrival, and again for a kept response.
   */
  staleness(value: Dated, headers: Headers | null, terms: ReceiptTerms, now: number): Staleness | null {
    const retrievedAt = typeof value.retrieved_at === 'string' ? Date.parse(value.retrieved_at) : Number.NaN;
    if (Number.isNaN(retrievedAt)) return null;
    if (this.#latest === null || retrievedAt > this.#latest.retrievedAt) this.#latest = { retrievedAt, at: now };
    const told = this.#told !== null && within(this.#told.at, toldMs, now) ? this.#told : null;
    const byClock = now - (told?.aheadMs ?? 0) - retrievedAt;
    // A clock that is behind does not hide the age: a later response and the time since its arrival prove it too.
    const byResponses = this.#latest.retrievedAt - retrievedAt + Math.max(0, now - this.#latest.at);
    const elapsedMs = Math.max(0, byClock, byResponses);
    const clock = told !== null || byResponses > byClock ? 'service' : 'client';
    const found = (reason: Staleness['reason'], ageMs: number, limitMs: number): Staleness => ({
      ...{ reason, clock, ageSeconds: wholeSeconds(ageMs), limitSeconds: wholeSeconds(limitMs) },
      clockAheadSeconds:
        clock === 'client' ? wholeSeconds(now - responseTime(headers, retrievedAt, terms)) : aheadSeconds(told),
    });
    const { refusedAt } = terms;
    if (refusedAt !== null && retrievedAt < refusedAt) return found('refused_since', refusedAt - retrievedAt, 0);
    for (const [age, limit] of terms.hasBound ? boundedAges(value) : []) {
      const [ageMs, boundMs] = [age * 1000 + elapsedMs, limit * 1000];
      if (ageMs > boundMs + clockToleranceMs) return found('older_than_bound', ageMs, boundMs);
    }
    const limitMs = representationMs + terms.lifetimeMs;
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
  const difference = `this client's clock is ${Math.abs(ahead ?? 0)} s ${(ahead ?? 0) < 0 ? 'behind' : 'ahead of'} the service's`;
  const whose = { client: `; if no cache is in between, ${difference}: correct it`, service: `; ${difference}` }[clock];
  return `${path}: ${found}; a cache between this client and the service serves expired responses: disable that (nginx: proxy_cache_use_stale off; Apache: CacheStaleOnError off)${ahead === null ? '' : whose}`;
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
function responseTime(headers: Headers | null, retrievedAt: number, { lifetimeMs }: ReceiptTerms): number {
  const date = Date.parse(headers?.get('date') ?? '');
  // A `Date` is in whole seconds.
  const isConsistent = date > retrievedAt - 1000 && date <= retrievedAt + representationMs + lifetimeMs;
  return isConsistent ? Math.max(date, retrievedAt) : retrievedAt;
}

function aheadSeconds(told: { readonly aheadMs: number } | null): number | null {
  return told === null ? null : wholeSeconds(told.aheadMs);
}

function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
