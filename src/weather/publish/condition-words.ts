import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { ConditionState } from '../../contract/vocabulary.ts';
import { minDays } from '../window/earlier-days.ts';
import type { ConditionReading } from './conditions.ts';

/** Texts for each state. No text names a person, a group, a motive or a cause. */
export const conditionTexts: Readonly<Record<ConditionState, { label: string; headline: string; sentence: string }>> = {
  station_offline: {
    label: 'Station offline',
    headline: 'No current reading',
    sentence:
      'The instrument has not observed a whole minute recently. The conditions are not known; this does not mean calm.',
  },
  unavailable: {
    label: 'Conditions unavailable',
    headline: 'Not enough to compare',
    sentence: 'The observed data cannot be compared with this hour of earlier days: absence of a reading, not calm.',
  },
  lull: {
    label: 'Lull',
    headline: 'Fewer events than usual are arriving from this host',
    sentence:
      'Fewer events than usual for this hour are arriving from this host, although it is observed without a break.',
  },
  calm: {
    label: 'Calm',
    headline: 'Within the usual range for this hour',
    sentence: "Interactions are within the usual range of this hour's history.",
  },
  active: {
    label: 'Active',
    headline: 'Busier than usual for this hour',
    sentence: "Interactions are in the upper quarter of this hour's history.",
  },
  unsettled: {
    label: 'Unsettled',
    headline: 'A raised or uneven level that has not lasted',
    sentence:
      "Interactions are higher or more uneven than in nearly all of this hour's history, but only for a short time.",
  },
  turbulent: {
    label: 'Turbulent',
    headline: 'Busier than usual for several minutes',
    sentence: "Interactions have stayed in the upper quarter of this hour's history for two minutes or more.",
  },
  storm: {
    label: 'Storm',
    headline: 'Much busier than usual for several minutes',
    sentence: "Interactions have stayed high, now above nearly all of this hour's history.",
  },
  severe_storm: {
    label: 'Severe storm',
    headline: 'At least three times the usual, for several minutes',
    sentence: "Interactions have stayed high, now at three times the middle of this hour's history or more.",
  },
};

/** Formats the conditions as the text of the artifact. */
export function describeConditions({
  state,
  confidence,
  asOfUs,
  ratio,
  days,
  shortOfDays,
}: ConditionReading): WeatherSummary['conditions'] {
  const { label, headline, sentence } = conditionTexts[state];
  const measured =
    ratio === null
      ? ''
      : ` Interactions run at ${ratio.toFixed(2)} times the middle of this hour over ${days} earlier days.`;
  // State how many days a new instrument has observed; otherwise a reader could take the missing comparison for an
  // error.
  const baseline =
    shortOfDays === null
      ? ''
      : ` A comparison needs ${minDays} earlier days of this hour: ${shortOfDays} of ${minDays} days observed.`;
  return {
    state,
    label,
    headline,
    sentence: state === 'unavailable' || state === 'station_offline' ? sentence + baseline : sentence + measured,
    confidence,
    as_of: asOfUs === null ? null : formatTimestamp(asOfUs / 1000),
  };
}
