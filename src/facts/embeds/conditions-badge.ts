import type { WeatherConditionsEnvelope } from '../../contract/envelope.ts';
import type { ConditionState, Confidence } from '../../contract/vocabulary.ts';
import { currencyOf, isNow } from '../page/currency.ts';
import { type ObservatoryFacts, originOf, type Shown } from '../page/model.ts';
import { type Badge, renderBadge } from './badge.tsx';
import { ageText, refusalText, weatherCoverageText } from './texts.ts';

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

const confidenceNotes: Readonly<Record<Confidence, string>> = {
  supported: '',
  thin: ', thin history',
  unsupported: ', unsupported by history',
};

/** Renders the badge of the network conditions. */
export function conditionsBadge({ conditions }: ObservatoryFacts): string {
  return renderBadge({ origin: originOf(conditions) ?? 'live', subject: 'weather', ...reading(conditions) });
}

function reading(fact: Shown<WeatherConditionsEnvelope>): Pick<Badge, 'value' | 'kind' | 'note'> {
  if (fact.kind !== 'served') return { value: 'refused', kind: 'refused', note: refusalText(fact) };
  const { conditions, window } = fact.envelope.facts;
  const age = ageText(fact.envelope);
  if (!isNow(currencyOf(fact.envelope))) return { value: 'not current', kind: 'none', note: age };
  const note = `${weatherCoverageText(window)}, ${age}`;
  if (conditions === null) return { value: 'no conditions', kind: 'none', note };
  const value = conditionNames[conditions.state];
  const isMeasured = conditions.state !== 'station_offline' && conditions.state !== 'unavailable';
  if (!isMeasured) return { value, kind: 'none', note };
  return { value: `${value}${confidenceNotes[conditions.confidence]}`, kind: 'measured', note };
}
