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
   * response at the refusal (`refused_since`). It is a lower bound if the service's clock was set back.
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

/** Number of responses whose first arrival is remembered. */
const maxArrivals = 1000;

/** `retrieved_at` of a response, and the time of its arrival on this client's clock. */
interface Arrival {
  readonly retrievedAt: number;
  readonly at: number;
}

/** Proof that the service's clock, or both clocks, were set back. */
interface SetBack {
  /** The response that completed the proof. */
  readonly by: Arrival;
  /** Arrival of the response that began the proof: the clock had been set back before. */
  readonly since: number;
}

/**
 * The service's clock, as far as its responses state it. A cached response states an earlier time than the present, so
 * only the `Date` of a refusal, which no cache keeps, states the present time. Each `retrieved_at` proves only that the
 * service's clock has reached that time. If the clock was ahead and is set back, new responses look old: they are
 * accepted once a sequence of them proves that the clock runs, because a cache only repeats what it has stored.
 */
export class ServiceClock {
  /** Latest `retrieved_at`, and the time at which it first arrived on this client's clock. */
  #latest: Arrival | null = null;
  /** Time by which this client's clock is ahead according to the last refusal, and the time of its arrival. */
  #told: { readonly aheadMs: number; readonly at: number } | null = null;
  #setBack: SetBack | null = null;
  /** First rejected response that would be current if a clock was set back. */
  #doubted: Arrival | null = null;
  /** First arrival of each of the last responses, by `retrieved_at`. */
  readonly #arrivals = new Map<number, number>();

  /** Last proof that a clock was set back; null without one. */
  get setBack(): SetBack | null {
    return this.#setBack;
  }

  /** Returns the time by which this client's clock is ahead according to a recent refusal; null without one. */
  toldAheadMs(now: number): number | null {
    return this.#told !== null && within(this.#told.at, toldMs, now) ? this.#told.aheadMs : null;
  }

  /**
   * Records a refusal with the `Date` `date`. Returns the time on the service's clock before which responses of its fact
   * are no longer valid.
   */
  refused(date: number, now: number): number {
    this.#told = { aheadMs: now - date, at: now };
    // A `Date` is in whole seconds: a response that arrived earlier may have been built later in the same second.
    return Math.max(date, (this.#latest?.retrievedAt ?? 0) + 1);
  }

  /** Records the arrival of a response that caches may repeat for `limitMs`. */
  arrived(retrievedAt: number, limitMs: number, now: number): void {
    if (this.#arrivals.has(retrievedAt)) return;
    this.#arrivals.set(retrievedAt, now);
    const [oldest] = this.#arrivals.keys();
    if (oldest !== undefined && this.#arrivals.size > maxArrivals) this.#arrivals.delete(oldest);
    const isLatest = this.#latest === null || retrievedAt > this.#latest.retrievedAt;
    if (isLatest && !this.#isAhead(retrievedAt, limitMs, now)) this.#latest = { retrievedAt, at: now };
  }

  /** Returns the first arrival of a response on this client's clock; `now` if it is not known. */
  arrivalOf(retrievedAt: number, now: number): number {
    return this.#arrivals.get(retrievedAt) ?? now;
  }

  /** Returns the minimum age of a response according to the arrivals of this and other responses. */
  ageMs(retrievedAt: number, limitMs: number, now: number): number {
    const latest = this.#latest ?? { retrievedAt, at: now };
    const sinceLatest = latest.retrievedAt - retrievedAt + Math.max(0, now - latest.at);
    const sinceArrival = now - this.arrivalOf(retrievedAt, now);
    // The service built a response ahead of its clock before that clock was set back, so the response has expired.
    const sinceSetBack = this.#isAhead(retrievedAt, limitMs, now)
      ? Math.max(now - (this.#setBack?.since ?? now), limitMs + clockToleranceMs + 1000)
      : 0;
    return Math.max(sinceLatest, sinceArrival, sinceSetBack);
  }

  /** Records that a response was accepted: no clock is in doubt. */
  accepted(): void {
    this.#doubted = null;
  }

  /**
   * Records a rejected response that has just arrived. Returns true if it proves that a clock was set back: since the
   * first response in doubt, `retrieved_at` has advanced as this client's clock has, for longer than caches may repeat a
   * response. A response that has arrived before proves nothing.
   */
  recordRejected(retrievedAt: number, limitMs: number, now: number): boolean {
    if (this.#arrivals.get(retrievedAt) !== now) return false;
    const first = this.#doubted ?? { retrievedAt, at: now };
    const passedMs = now - first.at;
    const aheadMs = retrievedAt - first.retrievedAt - passedMs;
    // Begin again with a response that does not fit: the first may be one that a cache has kept.
    const fits = passedMs >= 0 && aheadMs >= -clockToleranceMs && aheadMs <= limitMs + clockToleranceMs;
    this.#doubted = fits ? first : { retrievedAt, at: now };
    if (!fits || passedMs < limitMs + clockToleranceMs) return false;
    this.#latest = { retrievedAt, at: now };
    this.#setBack = { by: this.#latest, since: first.at };
    this.#told = null;
    this.#doubted = null;
    // If this client's clock was set back too, earlier arrivals are dated ahead of it.
    for (const [earlier, at] of this.#arrivals) if (at > now) this.#arrivals.set(earlier, first.at);
    return true;
  }

  /**
   * Returns true for a response that is ahead of a clock that was set back. A cache may have kept it since then: without
   * a proof that the clock runs at this time, it says nothing about the clock.
   */
  #isAhead(retrievedAt: number, limitMs: number, now: number): boolean {
    if (this.#setBack === null || this.#latest === null) return false;
    const { retrievedAt: latest, at } = this.#latest;
    return retrievedAt - latest - Math.max(0, now - at) > limitMs + clockToleranceMs;
  }
}

/** A response to judge, with the time for which the service and caches may repeat it. */
interface Judged {
  readonly value: Dated;
  readonly headers: Headers | null;
  readonly retrievedAt: number;
  readonly limitMs: number;
}

/** Judges the responses of one fact. */
export class ReceiptJudge {
  readonly #clock: ServiceClock;
  readonly #hasBound: boolean;
  /** Last refusal: its time on both clocks, and the proof of a clock set back that was known then. */
  #refusal: { readonly at: number; readonly arrivedAt: number; readonly setBack: SetBack | null } | null = null;

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
    const date = Date.parse(headers.get('date') ?? '');
    // Some caches state the age 0 in responses that they pass on without storing them.
    const isDirect = /\bno-store\b/i.test(headers.get('cache-control') ?? '') && Number(headers.get('age')) === 0;
    if (Number.isNaN(date) || !isDirect) return;
    this.#refusal = { at: this.#clock.refused(date, now), arrivedAt: now, setBack: this.#clock.setBack };
  }

  /**
   * Returns the reason why a response does not describe the present at `now`, a time on this client's clock; null if it
   * does, or if it does not state when it was built. Caches may keep the response for `lifetimeMs`. Call this function at
   * the arrival, and again without headers for a kept response.
   */
  staleness(value: Dated, headers: Headers | null, lifetimeMs: number, now: number): Staleness | null {
    const retrievedAt = typeof value.retrieved_at === 'string' ? Date.parse(value.retrieved_at) : Number.NaN;
    if (Number.isNaN(retrievedAt)) return null;
    const limitMs = representationMs + lifetimeMs;
    const response = { value, headers, retrievedAt, limitMs };
    if (headers !== null) this.#clock.arrived(retrievedAt, limitMs, now);
    const staleness = this.#judge(response, now);
    if (headers === null) return staleness;
    if (staleness === null) this.#clock.accepted();
    else if (this.#clock.recordRejected(retrievedAt, limitMs, now)) return this.#judge(response, now);
    return staleness;
  }

  #judge({ value, headers, retrievedAt, limitMs }: Judged, now: number): Staleness | null {
    const told = this.#clock.toldAheadMs(now);
    const byClock = now - (told ?? 0) - retrievedAt;
    // A clock that is behind does not hide the age: a later response and the time since its arrival prove it too.
    const byResponses = this.#clock.ageMs(retrievedAt, limitMs, now);
    const elapsedMs = Math.max(0, byClock, byResponses);
    const clock = told !== null || byResponses > byClock ? 'service' : 'client';
    const found = (reason: Staleness['reason'], ageMs: number, maxMs: number): Staleness => {
      const aheadMs = clock === 'client' ? now - sentAt(headers, retrievedAt, limitMs) : told;
      const clockAheadSeconds = aheadMs === null ? null : wholeSeconds(aheadMs);
      return { reason, clock, ageSeconds: wholeSeconds(ageMs), limitSeconds: wholeSeconds(maxMs), clockAheadSeconds };
    };
    const [refusedAt, arrivedAt] = this.#refusedAt(limitMs);
    const arrival = this.#clock.arrivalOf(retrievedAt, now);
    // If the service's clock was ahead, a response that arrived before the refusal may state a later time. A refusal that
    // arrived ahead of this client's clock proves no order, because this client's clock was set back.
    if (retrievedAt < refusedAt || (arrival < arrivedAt && arrivedAt <= now))
      return found('refused_since', Math.max(0, refusedAt - retrievedAt), 0);
    for (const [age, limit] of this.#hasBound ? boundedAges(value) : []) {
      const [ageMs, boundMs] = [age * 1000 + elapsedMs, limit * 1000];
      if (ageMs > boundMs + clockToleranceMs) return found('older_than_bound', ageMs, boundMs);
    }
    return elapsedMs > limitMs + clockToleranceMs ? found('expired', elapsedMs, limitMs) : null;
  }

  /** Returns the time of the last refusal on the service's and on this client's clock, also if they were set back since. */
  #refusedAt(limitMs: number): [service: number, client: number] {
    const { setBack } = this.#clock;
    if (this.#refusal === null) return [0, 0];
    const { at, arrivedAt } = this.#refusal;
    if (setBack === null || setBack === this.#refusal.setBack) return [at, arrivedAt];
    const arrived = arrivedAt <= setBack.by.at ? arrivedAt : setBack.since;
    // The response of the proof may have been built up to `limitMs` before it arrived.
    return [Math.min(at, arrived + setBack.by.retrievedAt - setBack.by.at + limitMs), arrived];
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
