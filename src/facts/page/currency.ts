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

/** Why a reading that is not one of now is none. */
export const notNow: Readonly<Record<Exclude<Currency, 'current' | 'partial'>, string>> = {
  old: 'The newest reading is older than its instrument allows, so it says nothing of now.',
  unavailable: 'The instrument itself calls its newest reading unavailable.',
  not_said: 'The newest reading does not say how old it is, so it cannot be called one of now.',
};

/** Whether a reading of this currency may be shown as one of now. */
export function isNow(currency: Currency): currency is 'current' | 'partial' {
  return currency === 'current' || currency === 'partial';
}
