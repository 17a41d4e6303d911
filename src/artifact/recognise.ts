import { parseTimestamp } from '../contract/timestamp.ts';
import { type CensusMap, censusKeys } from '../contract/vocabulary.ts';
import { isObject } from '../input/json-budget.ts';
import { checkLegacyOverview, checkRecentOverview, type LegacyOverview, type RecentOverview } from './overview.ts';
import type { Malformed, Recognised, UnknownSchema } from './reading.ts';
import { type Check, own } from './schema.ts';
import {
  checkWeatherSummary,
  checkWeatherwatchSummary,
  type WeatherSummary,
  type WeatherwatchSummary,
} from './weather-summary.ts';

/**
 * Schema detection. Each instrument has two known producers, whose artifacts are distinguished by their content alone.
 */

/** An artifact of the label instrument: Almanac's or the legacy producer's. */
export type LabelArtifact =
  | { readonly schema: 'labels.recent-overview.v1'; readonly overview: RecentOverview }
  | { readonly schema: '23'; readonly overview: LegacyOverview };

/** An artifact of the weather instrument: Almanac's or weatherwatch's. */
export type WeatherArtifact =
  | { readonly schema: 'weather.summary.v1'; readonly summary: WeatherSummary }
  | { readonly schema: 'weatherwatch.summary/v2'; readonly summary: WeatherwatchSummary };

/** Detects the producer of a label artifact and checks the artifact against its schema. */
export function recogniseLabels(value: unknown): Recognised<LabelArtifact> {
  if (!isObject(value)) return unknownSchema();
  const schema = own(value, 'schema');
  if (schema === 'labels.recent-overview.v1') {
    return narrowed(schema, checkRecentOverview, value, invertedInterval, (overview) => ({ schema, overview }));
  }
  if (schema === undefined && own(value, 'schema_version') === 23) {
    return narrowed('23', checkLegacyOverview, value, overflowing, (overview) => ({ schema: '23', overview }));
  }
  return unknownSchema();
}

/** Detects the producer of a weather artifact and checks the artifact against its schema. */
export function recogniseWeather(value: unknown): Recognised<WeatherArtifact> {
  if (!isObject(value)) return unknownSchema();
  const schema = own(value, 'schema');
  if (schema === 'weather.summary.v1') {
    return narrowed(schema, checkWeatherSummary, value, invertedWindow, (summary) => ({ schema, summary }));
  }
  if (schema === 'weatherwatch.summary/v2') {
    return narrowed(schema, checkWeatherwatchSummary, value, invertedUnixInterval, (summary) => ({ schema, summary }));
  }
  return unknownSchema();
}

type Fault = Pick<Malformed, 'pointer' | 'why'>;

function narrowed<T, A>(
  schema: string,
  check: Check<T>,
  value: Record<string, unknown>,
  faultOf: (value: T) => Fault | null,
  as: (value: T) => A,
): Recognised<A> {
  const checked = check(value);
  if (!checked.ok) return { kind: 'malformed', schema, pointer: checked.pointer, why: checked.why };
  const fault = faultOf(checked.value);
  if (fault) return { kind: 'malformed', schema, pointer: fault.pointer, why: fault.why };
  return { kind: 'recognised', artifact: as(checked.value) };
}

function unknownSchema(): UnknownSchema {
  return { kind: 'unknown_schema', why: 'the schema is not known for this instrument' };
}

/** Returns an error if the interval ends before it starts or has an invalid time; otherwise null. */
function inverted(interval: { start: string; end: string }, pointer: string): Fault | null {
  const start = parseTimestamp(interval.start);
  const end = parseTimestamp(interval.end);
  if (start !== null && end !== null && start <= end) return null;
  return { pointer, why: 'ends before it starts' };
}

function invertedInterval({ coverage }: RecentOverview): Fault | null {
  const warmup = coverage.warmup && inverted(coverage.warmup, '/coverage/warmup');
  if (warmup) return warmup;
  for (const [index, gap] of coverage.gaps.entries()) {
    const fault = inverted(gap, `/coverage/gaps/${index}`);
    if (fault) return fault;
  }
  return null;
}

function invertedWindow({ window }: WeatherSummary): Fault | null {
  return inverted(window, '/window');
}

function invertedUnixInterval({ interval }: WeatherwatchSummary): Fault | null {
  const { first_bucket_start: start, last_bucket_end: end } = interval;
  return start !== null && end !== null && end < start ? { pointer: '/interval', why: 'ends before it starts' } : null;
}

const censusMaps = Object.keys(censusKeys) as CensusMap[];

/**
 * Returns an error if a published sum is too large for a count: the sum of the alerts of all rules in 7 days, or of all
 * keys of a census map.
 */
function overflowing({ alerts_by_rule_7d: rules = {}, census }: LegacyOverview): Fault | null {
  const sums: [string, Record<string, number>][] = [['/alerts_by_rule_7d', rules]];
  for (const map of censusMaps) sums.push([`/census/${map}`, census[map]]);
  const over = sums.find(
    ([, counts]) => Object.values(counts).reduce((sum, count) => sum + count, 0) > Number.MAX_SAFE_INTEGER,
  );
  return over ? { pointer: over[0], why: 'adds up to more than 2^53-1' } : null;
}
