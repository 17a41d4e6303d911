import type { WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';

/**
 * Whether a weather reading may be called one of now. The API serves it as its instrument judged it, however long
 * ago that was, and asks its readers to add the age: this is that addition.
 */
export type Currency = 'current' | 'partial' | 'old' | 'unavailable' | 'not_said';

/** The currency of a weather fact when it was answered. */
export function currencyOf({
  age_seconds: age,
  freshness,
}: Pick<WeatherConditionsEnvelope | WeatherMetricsEnvelope, 'age_seconds' | 'freshness'>): Currency {
  const { state, age_seconds: ageThen, max_age_seconds: most } = freshness;
  if (state === 'stale') return 'old';
  if (state === 'unavailable') return 'unavailable';
  if (age === null || ageThen === null || most === null) return 'not_said';
  return age + ageThen > most ? 'old' : state;
}
