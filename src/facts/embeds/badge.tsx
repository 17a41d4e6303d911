import type { LabelsOverview, WeatherConditionsEnvelope } from '../../contract/envelope.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { Confidence, CoverageStatus, Origin } from '../../contract/vocabulary.ts';
import type { WeatherWindow } from '../../contract/weather.ts';
import { agreeing, countText, instantText, percentText, spanText } from '../../web/format.ts';

import {
  conditionNames,
  currencyOf,
  isLegacy,
  isNow,
  isRecent,
  type ObservatoryFacts,
  originOf,
  type RecentEnvelope,
  type Shown,
} from '../shown-facts.ts';
import { Line, renderImage, textWidth } from './image.tsx';

/** Content of a badge. */
interface Badge {
  readonly origin: Origin;
  /** Subject of the badge, shown after the name of the network. */
  readonly subject: string;
  readonly value: string;
  /** Kind of the value: a measurement, the absence of a measurement, or a refusal. */
  readonly kind: 'measured' | 'absent' | 'refused';
  /** Coverage and age; for a refusal, its reason. */
  readonly note: string;
}

const size = 12;
const noteSize = 11;
const margin = 9;
const rowHeight = 22;

/** Renders a badge with two rows: the value above, the coverage and the age below. */
function renderBadge({ origin, subject, value, kind, note }: Badge): string {
  const name = `${networkNames[origin]} ${subject}`;
  const nameWidth = textWidth(name, size) + 2 * margin;
  const valueWidth = textWidth(value, size, true) + 2 * margin;
  const width = Math.max(nameWidth + valueWidth, textWidth(note, noteSize) + 2 * margin);
  const height = 2 * rowHeight;
  return renderImage({
    width,
    height,
    title: `${name}: ${value}`,
    description: `${name}: ${value}. ${note}.`,
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={width - 1} height={height - 1} rx="3" />
        <rect class={origin === 'live' ? 'head' : 'mark'} x="1" y="1" width={nameWidth - 1} height={rowHeight - 1} />
        <rect class={kind} x={nameWidth} y="1" width={width - nameWidth - 1} height={rowHeight - 1} />
        <Line x={margin} y={16} size={size} paint={origin === 'live' ? 'on-head' : 'on-mark'}>
          {name}
        </Line>
        <Line x={nameWidth + margin} y={16} size={size} paint={`on-${kind}`} isStrong>
          {value}
        </Line>
        <Line x={margin} y={37} size={noteSize} paint="soft">
          {note}
        </Line>
      </>
    ),
  });
}

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
  if (!isNow(currencyOf(fact.envelope))) return { value: 'not current', kind: 'absent', note: age };
  const note = `${weatherCoverageText(window)}, ${age}`;
  if (conditions === null) return { value: 'no conditions', kind: 'absent', note };
  const value = conditionNames[conditions.state];
  const isMeasured = conditions.state !== 'station_offline' && conditions.state !== 'unavailable';
  if (!isMeasured) return { value, kind: 'absent', note };
  return { value: `${value}${confidenceNotes[conditions.confidence]}`, kind: 'measured', note };
}

/** Renders the badge of label activity. */
export function labelsBadge({ labels }: ObservatoryFacts): string {
  return renderBadge({ origin: originOf(labels) ?? 'live', ...activity(labels) });
}

function activity(fact: Shown<LabelsOverview>): Omit<Badge, 'origin'> {
  if (fact.kind !== 'served') {
    return { subject: 'label events', value: 'refused', kind: 'refused', note: refusalText(fact) };
  }
  const { envelope } = fact;
  const note = `${labelCoverageText(envelope)}, ${ageText(envelope)}`;
  if (!isRecent(envelope)) {
    return { subject: 'labelers known', value: countText(envelope.facts.labeler_count), kind: 'measured', note };
  }
  const { counts, coverage } = envelope.facts;
  // Until a whole day has been observed, the count covers only the time since the observation began.
  const subject = coverage.observed_days === 0 ? 'label events, less than 24 h' : 'label events, 24 h';
  return { subject, value: countText(counts.events_24h), kind: 'measured', note };
}

/**
 * Texts of the images. An image may be copied, cached and viewed later, so each age is stated with the instant to which
 * it refers. The texts consist of numbers and of words from this file; they contain no text from an artifact.
 */

/**
 * Name of the observed network, by origin. It prevents simulated data in an image from being mistaken for live data.
 */
export const networkNames: Readonly<Record<Origin, string>> = {
  live: 'AT Protocol',
  simulated: 'SIMULATED network',
  sample: 'SAMPLE, not current',
};

/** Describes the reason for a refusal, or a missing response. */
export function refusalText(fact: Exclude<Shown<never>, { kind: 'served' }>): string {
  return refusalTexts[fact.error.code] ?? 'the service could not build the fact';
}

const refusalTexts: Partial<Record<ErrorCode, string>> = {
  source_unavailable: 'no usable data: the fact is unknown',
  source_stale: 'the latest reading is too old',
  source_held: 'the operator withholds the fact',
};

/** Describes the age of a fact and the instant at which it had that age. */
export function ageText({
  age_seconds: age,
  retrieved_at: at,
}: Pick<LabelsOverview | WeatherConditionsEnvelope, 'age_seconds' | 'retrieved_at'>): string {
  if (age === null) return 'age not stated';
  const words = age < 0 ? `dated ${spanText(-age)} ahead` : `${spanText(age)} old`;
  return `${words} on ${instantText(at)}`;
}

/** Describes the observed part of the weather window. */
export function weatherCoverageText({ coverage_ratio: ratio, span_seconds: span }: WeatherWindow): string {
  return ratio === null ? 'observed part unknown' : `${percentText(ratio)} of ${spanText(span)} observed`;
}

/** Describes the coverage of a label overview. */
export function labelCoverageText(envelope: LabelsOverview): string {
  if (isRecent(envelope)) return recentCoverageText(envelope);
  if (isLegacy(envelope)) return `observation ${envelope.facts.observation?.adequacy ?? 'adequacy not stated'}`;
  return 'coverage not stated';
}

function recentCoverageText({ facts: { coverage, window_days: days } }: RecentEnvelope): string {
  const observed = `${coverage.observed_days} of ${days} days`;
  if (coverage.gap_overflow) return `${observed}, too many gaps to list`;
  const { length } = coverage.gaps;
  const gaps = length === 0 ? '' : `, ${countText(length)} ${agreeing(length, 'gap', 'gaps')}`;
  return `${observed}${gaps}, ${statusTexts[coverage.status]}`.replace(/, $/, '');
}

const statusTexts: Readonly<Record<CoverageStatus, string>> = {
  warming_up: 'warming up',
  gapped: '',
  no_recorded_gaps: 'no recorded gap',
  unknown: 'coverage unknown',
};
