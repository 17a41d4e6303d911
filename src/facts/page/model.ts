import type { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { LegacyLabelFacts, RecentLabelFacts } from '../../contract/labels.ts';
import type { Origin } from '../../contract/vocabulary.ts';

/** A fact as the page shows it: exactly the API's last response, never an earlier one. */
export type Shown<E> =
  | { readonly kind: 'served'; readonly envelope: E }
  | { readonly kind: 'refused'; readonly error: ErrorBody['error'] }
  /** The service gave no answer that could be understood; only a page that is kept live meets it. */
  | { readonly kind: 'unreached' };

/** The three facts of the API that the page is drawn from, and nothing else. */
export interface ObservatoryFacts {
  readonly conditions: Shown<WeatherConditionsEnvelope>;
  readonly metrics: Shown<WeatherMetricsEnvelope>;
  readonly labels: Shown<LabelsOverview>;
}

/** The label overview of the rolling epoch, as an envelope of its own. */
export type RecentEnvelope = LabelsOverview & { facts: RecentLabelFacts };

/** The label overview of the legacy producer. */
export type LegacyEnvelope = LabelsOverview & { facts: LegacyLabelFacts };

/** Which of its two kinds a label overview is: the rolling epoch has an acquisition. */
export function isRecent(envelope: LabelsOverview): envelope is RecentEnvelope {
  return 'acquisition' in envelope.facts;
}

/** Returns true for an envelope of the legacy producer. */
export function isLegacy(envelope: LabelsOverview): envelope is LegacyEnvelope {
  return 'census' in envelope.facts;
}

/** The origins of what is shown, other than live: a producer that names none is a live one. */
export function originsShown({ conditions, metrics, labels }: ObservatoryFacts): Exclude<Origin, 'live'>[] {
  const origins = [conditions, metrics, labels].map((fact) =>
    fact.kind === 'served' ? (fact.envelope.provenance.origin ?? 'live') : 'live',
  );
  return (['simulated', 'sample'] as const).filter((origin) => origins.includes(origin));
}
