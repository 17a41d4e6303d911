/**
 * Key of the time at which a body arrived, on a monotonic clock. A symbol, so that no copy for another process has this
 * time: the clock of that process has another origin.
 */
export const receivedTick: unique symbol = Symbol('receivedTick');

/** A fact as the service sent it, with the times at which it arrived and was confirmed. */
export interface Reading<E> {
  /** The body exactly as it arrived. Its `age_seconds` is the age at its `retrieved_at`, up to `maxDeliveryMs` earlier. */
  readonly value: E;
  /**
   * Origin of the reading. `fetched`: this call's response contained the body. `revalidated`: the body arrived earlier,
   * and this call's response confirmed it. `kept`: the body is still within its `max-age`, so no request was sent.
   * `kept_newer`: this call's response contained an older reading, which does not replace this newer one.
   */
  readonly via: 'fetched' | 'revalidated' | 'kept' | 'kept_newer';
  /** Time at which the body arrived, on this client's clock, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** Time at which the service last confirmed the body, on this client's clock, in milliseconds since 1970. */
  readonly confirmedAt: number;
  /**
   * Maximum time in milliseconds from `retrieved_at` to the arrival, which caches may prolong: a minute in the service,
   * and a minute in caches, or the longer lifetime that the response stated.
   */
  readonly maxDeliveryMs?: number;
  /** Time at which the body arrived, on a monotonic clock, in milliseconds: this client's clock may be set back. */
  readonly [receivedTick]?: number;
}

const minuteMs = 60_000;

/** Returns the maximum time in milliseconds from `retrieved_at` to the arrival of a response with a lifetime in caches. */
export function maxDeliveryOf(lifetimeMs: number): number {
  return minuteMs + Math.max(minuteMs, lifetimeMs);
}

/** Fields that identify a response of the contract. */
export interface Identified {
  readonly contract: string;
  readonly generated_at?: string | null;
  readonly age_seconds?: number | null;
}

/** A reading that is cached for the next call. */
export interface Kept<E> {
  readonly value: E;
  readonly etag: string | null;
  readonly receivedAt: number;
  readonly confirmedAt: number;
  readonly maxDeliveryMs: number;
  readonly [receivedTick]: number;
  /** Time of the last confirmation on a monotonic clock, in milliseconds: this client's clock may be set back. */
  readonly tick: number;
  /** Time in milliseconds after the last confirmation during which the client sends no request. */
  readonly maxAgeMs: number;
  /** Time in milliseconds for which caches may keep the body, according to the last confirmation. */
  readonly lifetimeMs: number;
}

/**
 * Time in milliseconds after the last confirmation of a newer reading during which an older reading is ignored.
 * Outdated nodes and caches send older readings briefly; a service that still sends one after this time published it
 * deliberately.
 */
export const supersedeMs = 15 * 60_000;

/**
 * Returns true if less than `spanMs` milliseconds have passed from `since` to `now`. Returns false if the clock was set
 * back.
 */
export function within(since: number, spanMs: number, now: number): boolean {
  return now >= since && now - since < spanMs;
}

/**
 * Returns true if `next` must not replace the cached reading. This is the case if the cached reading is a later
 * computation of the same fact and was confirmed within the last `supersedeMs`.
 */
export function supersedes<E extends Identified>(kept: Kept<E>, next: E, now: number): boolean {
  const before = instantOf(kept.value);
  const after = instantOf(next);
  // A comparison with an unknown time is false.
  if (!(before > after)) return false;
  // A `generated_at` ahead of the service's clock does not prove that the cached reading is newer.
  if ((kept.value.age_seconds ?? 0) < 0) return false;
  return seriesOf(kept.value) === seriesOf(next) && within(kept.confirmedAt, supersedeMs, now);
}

function instantOf({ generated_at }: Identified): number {
  return typeof generated_at === 'string' ? Date.parse(generated_at) : Number.NaN;
}

/** Returns a key of the fact's producer and input. Times of facts with different keys cannot be compared. */
function seriesOf(value: Identified): string {
  const { facts, provenance } = value as { readonly facts?: unknown; readonly provenance?: unknown };
  return JSON.stringify([
    text(member(provenance, 'artifact_schema_version')),
    text(member(provenance, 'origin')),
    text(member(provenance, 'source_endpoint')),
    text(member(member(facts, 'acquisition'), 'generation_id')),
  ]);
}

/** Returns a member of an object, or undefined for any other value: the client does not check the shape of a fact. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns a text, or null for any other value: another value may be nested too deeply to be formatted. */
function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
