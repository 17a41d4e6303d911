import type { LabelsOverview, WeatherConditionsEnvelope } from '../../contract/envelope.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { CoverageStatus, Origin } from '../../contract/vocabulary.ts';
import type { WeatherWindow } from '../../contract/weather.ts';
import { agreeing, countText, instantText, percentText, spanText } from '../../web/format.ts';
import { isLegacy, isRecent, type RecentEnvelope, type Shown } from '../page/model.ts';

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
