import { maxDeliveryOf, type Reading, receivedTick } from './reading.ts';
import type { WeatherFreshness } from './schemas.ts';

/**
 * Currencies of a weather fact: whether it still describes the present. The service never refuses a weather fact for its
 * age. It serves the freshness that the instrument computed when it wrote the artifact, so a client must add the age of
 * the artifact. Show a weather fact as current only if its currency is `current` or `partial`.
 */
export const currencies = ['current', 'partial', 'old', 'unavailable', 'not_said'] as const;
/** Currency of a weather fact. `not_said`: the artifact does not state its age or its limit, or states a future time. */
export type Currency = (typeof currencies)[number];

/** Fields of a weather fact on which its currency depends. */
export interface AgedFact {
  readonly age_seconds: number | null;
  readonly freshness: Pick<WeatherFreshness, 'state' | 'age_seconds' | 'max_age_seconds'>;
}

/** Returns the currency of a weather fact a number of seconds after the service sent it. */
export function currencyAfter({ age_seconds: age, freshness }: AgedFact, seconds: number): Currency {
  const { state, age_seconds: ageThen, max_age_seconds: limit } = freshness;
  if (state === 'stale') return 'old';
  if (state === 'unavailable') return state;
  // With a time that is further in the future, a clock is wrong, and the fact would stay current until that time.
  if (age === null || ageThen === null || limit === null || Math.min(age, ageThen) < -300) return 'not_said';
  return age + ageThen + seconds > limit ? 'old' : state;
}

/** Reading of a fact that states its age. */
type AgedReading<E> = Pick<
  Reading<E & { readonly retrieved_at: string }>,
  'value' | 'receivedAt' | typeof receivedTick
> &
  Partial<Pick<Reading<E>, 'maxDeliveryMs'>>;

/**
 * Returns the currency of a reading at `now`, in milliseconds since 1970 on this client's clock; by default the present,
 * also if this clock was set back after the arrival. Counts the time since `retrieved_at`, which is at most
 * `maxDeliveryMs` before the arrival; a clock of this client that was wrong then changes the result by no more than that.
 */
export function weatherCurrency(reading: AgedReading<AgedFact>, now?: number): Currency {
  return currencyAfter(reading.value, elapsedSeconds(reading, now));
}

/**
 * Returns the seconds from the `generated_at` of a reading to `now`; null if the artifact does not state its age. `now` is
 * that of `weatherCurrency`, and a clock of this client that was wrong at the arrival changes the result by as little.
 */
export function currentAge(
  reading: AgedReading<{ readonly age_seconds?: number | null }>,
  now?: number,
): number | null {
  const { age_seconds: age } = reading.value;
  return typeof age === 'number' ? age + elapsedSeconds(reading, now) : null;
}

/** Returns the seconds from `retrieved_at` to `now`. The time until the arrival counts up to its maximum. */
function elapsedSeconds(reading: AgedReading<unknown>, now: number | undefined): number {
  const { value, receivedAt, maxDeliveryMs = maxDeliveryOf(0), [receivedTick]: tick } = reading;
  const delivery = receivedAt - Date.parse(value.retrieved_at);
  const ticks = now === undefined && tick !== undefined ? performance.now() - tick : 0;
  const held = Math.max(0, (now ?? Date.now()) - receivedAt, ticks);
  return (held + Math.min(maxDeliveryMs, Math.max(0, delivery) || 0)) / 1000;
}
