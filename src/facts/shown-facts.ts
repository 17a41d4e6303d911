import { type AgedFact, type Currency, currencyAfter } from '../client/currency.ts';
import type { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../contract/envelope.ts';
import type { ErrorBody } from '../contract/errors.ts';
import type { LegacyLabelFacts, RecentLabelFacts } from '../contract/labels.ts';
import type { ConditionState, Confidence, Origin } from '../contract/vocabulary.ts';

/** A fact as the page shows it: the latest response of the API, never an earlier one. */
export type Shown<E> =
  | { readonly kind: 'served'; readonly envelope: E }
  /** `origin` is the origin of the refused artifact; absent if it is not known. */
  | { readonly kind: 'refused'; readonly error: ErrorBody['error']; readonly origin?: Origin };

/** The three facts from which the page is rendered. */
export interface ObservatoryFacts {
  readonly conditions: Shown<WeatherConditionsEnvelope>;
  readonly metrics: Shown<WeatherMetricsEnvelope>;
  readonly labels: Shown<LabelsOverview>;
}

/** A label overview of the rolling epoch. */
export type RecentEnvelope = LabelsOverview & { facts: RecentLabelFacts };

/** A label overview of the legacy producer. */
export type LegacyEnvelope = LabelsOverview & { facts: LegacyLabelFacts };

/** Returns true for an envelope of the rolling epoch: only these envelopes have `facts.acquisition`. */
export function isRecent(envelope: LabelsOverview): envelope is RecentEnvelope {
  return 'acquisition' in envelope.facts;
}

/** Returns true for an envelope of the legacy producer. */
export function isLegacy(envelope: LabelsOverview): envelope is LegacyEnvelope {
  return 'census' in envelope.facts;
}

/**
 * Returns the origin of a fact. A producer that names no origin counts as live. The origin of a fact that is not served
 * is that of its artifact; undefined if it is not known.
 */
export function originOf(fact: Shown<LabelsOverview | WeatherConditionsEnvelope | WeatherMetricsEnvelope>) {
  return fact.kind === 'served' ? (fact.envelope.provenance.origin ?? 'live') : fact.origin;
}

/** Returns the origins of the shown facts, except `live`. */
export function originsShown({ conditions, metrics, labels }: ObservatoryFacts): Exclude<Origin, 'live'>[] {
  return markedOrigins([conditions, metrics, labels].flatMap((fact) => originOf(fact) ?? []));
}

/** Returns the distinct origins that pages must mark. */
export function markedOrigins(origins: readonly Origin[]): Exclude<Origin, 'live'>[] {
  return (['simulated', 'sample'] as const).filter((origin) => origins.includes(origin));
}

/** Returns the currency of a weather fact at the time of the response. */
export function currencyOf(fact: AgedFact): Currency {
  return currencyAfter(fact, 0);
}

/** Explanations of why a weather fact is not current, by currency. */
export const notNow: Readonly<Record<Exclude<Currency, 'current' | 'partial'>, string>> = {
  old: 'The newest artifact is older than its instrument allows, so it does not describe the present.',
  unavailable: 'The instrument itself reports its newest data as unavailable.',
  not_said: 'The newest artifact states no age or a future time, so it cannot be presented as current.',
};

/** Returns true if a fact with this currency may be shown as current. */
export function isNow(currency: Currency): currency is 'current' | 'partial' {
  return currency === 'current' || currency === 'partial';
}

/** First caveat, and banner of pages, of facts whose origin is not `live`, by origin. */
export const originCaveats: Record<Exclude<Origin, 'live'>, string> = {
  simulated: 'These facts come from a simulated network. They say nothing about the real one.',
  sample: 'These facts come from a bundled sample. They say nothing about the network now.',
};

/** Returns the caveat of an origin, or an empty list if the origin is the live network. */
export function caveatsOfOrigin(origin: Origin): string[] {
  return origin === 'live' ? [] : [originCaveats[origin]];
}

/** Title prefixes of pages whose data is not live, so that users recognise such pages by their browser tab. */
const originTitles = { simulated: '[simulated] ', sample: '[sample] ' } as const;

/** Returns the parts by which a page marks the origins of its facts. `title` is its title without them. */
export function markedParts(origins: readonly Exclude<Origin, 'live'>[], title: string) {
  return {
    title: [...origins.map((origin) => originTitles[origin]), title].join(''),
    // Exclude simulated data from search engines, which could present it as live.
    indexed: origins.length === 0,
    ...(origins.length === 0 ? {} : { banner: origins.map((origin) => originCaveats[origin]).join(' ') }),
  };
}

/** Names of the condition states. The name of a state without a measurement cannot be mistaken for a condition. */
export const conditionNames: Readonly<Record<ConditionState, string>> = {
  station_offline: 'not observed',
  unavailable: 'no comparison yet',
  lull: 'Lull',
  calm: 'Calm',
  active: 'Active',
  unsettled: 'Unsettled',
  turbulent: 'Turbulent',
  storm: 'Storm',
  severe_storm: 'Severe storm',
};

/** Condition states with a measurement, ordered from quiet to busy, with their names. */
export const scale = (['lull', 'calm', 'active', 'unsettled', 'turbulent', 'storm', 'severe_storm'] as const).map(
  (state) => ({ state, word: conditionNames[state] }),
);

/** Descriptions of how much history supports a condition. */
export const confidenceText: Readonly<Record<Confidence, string>> = {
  supported: 'well supported: there are enough earlier days to compare with',
  thin: 'thin: there are few earlier days to compare with',
  unsupported: 'unsupported: there is not enough history to compare with',
};
