import { type AgedFact, type Currency, currencyAfter } from '../../client/currency.ts';

/** Returns the currency of a weather fact at the time of the response. */
export function currencyOf(fact: AgedFact): Currency {
  return currencyAfter(fact, 0);
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
