import type { WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';

/**
 * Currencies of a weather fact: whether it still describes the present. The API serves the freshness that the
 * instrument computed when it wrote the artifact. Clients must add the artifact's age to determine the currency.
 */
export const currencies = ['current', 'partial', 'old', 'unavailable', 'not_said'] as const;
/** Currency of a weather fact. */
export type Currency = (typeof currencies)[number];

/** Returns the currency of a weather fact at the time of the response. */
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

/** Explanations of why a weather fact is not current, by currency. */
export const notNow: Readonly<Record<Exclude<Currency, 'current' | 'partial'>, string>> = {
  old: 'The newest artifact is older than its instrument allows, so it does not describe the present.',
  unavailable: 'The instrument itself reports its newest data as unavailable.',
  not_said: 'The newest artifact does not state its age, so it cannot be presented as current.',
};

/** Returns true if a fact with this currency may be shown as current. */
export function isNow(currency: Currency): currency is 'current' | 'partial' {
  return currency === 'current' || currency === 'partial';
}
