import type { CollectionSummary, WeatherSummary } from '../../artifact/weather-summary.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import {
  type CollectionName,
  collectionNames,
  type Origin,
  type WeatherFreshnessState,
  type Wire,
} from '../../contract/vocabulary.ts';
import type { CollectionTime } from '../silence/collection-time.ts';
import { minDays } from '../window/earlier-days.ts';
import type { Interval } from '../window/interval.ts';
import type { Minute } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { windowSeconds, windowUs } from '../window/window.ts';
import { countingCaveats, silenceCaveats, weatherCaveats } from './caveats.ts';
import { describeConditions } from './condition-words.ts';
import type { ConditionReading } from './conditions.ts';

/** Age of the newest observation beyond which the summary is stale, in seconds: three windows. */
export const maxAgeSeconds = 3 * windowSeconds;

/** The published list of what the weather facts do not measure (`does_not_measure`). */
export const weatherExclusions = [
  'participant turnover',
  'sentiment or content',
  'individual accounts',
  'the social graph',
  'reads and impressions',
  'private messages',
  'events that this host did not deliver',
  'repeats that this host delivered as if they were new',
];

/** Input from which a summary is created. */
export interface SummaryInput {
  /** Address of the observed host, without credentials or query. */
  readonly endpoint: string;
  readonly wire: Wire;
  /** Additional caveats of the summary that do not derive from the counts. */
  readonly caveats: readonly string[];
  readonly origin: Origin;
  readonly nowUs: number;
  /** Consecutive closed minutes of the summary, with counts in the order of `collectionNames`. */
  readonly minutes: readonly Minute[];
  /** Observed spans, sorted and disjoint, but not clipped to the minutes. */
  readonly observed: readonly Interval[];
  /** Spans in which a collection was silent while others continued. */
  readonly silences: readonly Silence[];
  /** Counts and observed time of each collection in the minutes, excluding the silences of that collection. */
  readonly times: readonly CollectionTime[];
  /**
   * Start of the first window in which a collection is counted. A collection without an entry has always been counted.
   */
  readonly countedSince: ReadonlyMap<CollectionName, number>;
  /** Collections for which the host has sent no event since the series began. The host may not send them at all. */
  readonly unseen: ReadonlySet<CollectionName>;
  readonly conditions: ConditionReading;
}

/** Creates the summary of closed windows from their counts and observed time. Nothing is estimated. */
export function summarise(input: SummaryInput): WeatherSummary {
  const { endpoint, wire, origin, nowUs, minutes, conditions } = input;
  const startUs = minutes[0]?.startUs ?? nowUs;
  const observedSeconds = seconds(minutes.reduce((sum, { observedUs }) => sum + observedUs, 0));
  const observedWindows = minutes.filter(({ observedUs }) => observedUs > 0).length;
  const spanSeconds = minutes.length * windowSeconds;
  const total = minutes.reduce((sum, { events }) => sum + events, 0);
  const watched = observedSeconds > 0;
  return {
    schema: 'weather.summary.v1',
    generated_at: instant(nowUs),
    origin,
    source: { endpoint, method: 'jetstream', wire },
    window: {
      start: instant(startUs),
      end: instant(startUs + minutes.length * windowUs),
      bucket_seconds: windowSeconds,
      span_seconds: spanSeconds,
      observed_seconds: observedSeconds,
      coverage_ratio: spanSeconds > 0 ? rounded(observedSeconds / spanSeconds) : null,
      observed_windows: observedWindows,
      unobserved_windows: minutes.length - observedWindows,
    },
    conditions: describeConditions(conditions),
    ...(conditions.shortOfDays === null
      ? {}
      : { baseline: { observed_days: conditions.shortOfDays, required_days: minDays } }),
    total_events: {
      total: watched ? total : null,
      mean_rate_per_s: watched ? rounded(total / observedSeconds) : null,
      observed_seconds: observedSeconds,
    },
    collections: watched ? collections(input) : {},
    freshness: freshness(input),
    measures:
      'rates of network events by collection, as one stream host delivered them, and the health of that observation',
    does_not_measure: [...weatherExclusions],
    caveats: [
      ...input.caveats,
      ...silenceCaveats(minutes, input.silences),
      ...(watched ? countingCaveats(minutes, input) : []),
      ...weatherCaveats(minutes),
    ],
  };
}

/**
 * Returns the published collections. The count of a collection that was silent throughout, is not counted yet, or was
 * never seen is null, not zero.
 */
function collections({ minutes, times, unseen }: SummaryInput): WeatherSummary['collections'] {
  const found: Partial<Record<CollectionName, CollectionSummary | null>> = {};
  for (const [i, { total, observedUs, observedWindows }] of times.entries()) {
    const name = collectionNames[i];
    if (name === undefined) continue;
    const observedSeconds = seconds(observedUs);
    found[name] =
      observedUs === 0 || unseen.has(name)
        ? null
        : {
            total,
            mean_rate_per_s: rounded(total / observedSeconds),
            observed_seconds: observedSeconds,
            observed_windows: observedWindows,
            unobserved_windows: minutes.length - observedWindows,
          };
  }
  return found;
}

function freshness({ minutes, observed, nowUs }: SummaryInput): WeatherSummary['freshness'] {
  const end = (minutes.at(-1)?.startUs ?? nowUs) + windowUs;
  const last = observed.findLast(({ from }) => from < end);
  const newestObservedUs = last ? Math.min(last.to, end) : null;
  const newest = minutes.findLast(({ observedUs }) => observedUs > 0);
  const complete = minutes.findLast((minute) => minute.complete);
  const age = newestObservedUs === null ? null : Math.max(0, seconds(nowUs - newestObservedUs));
  return {
    state: freshnessState(age, newest),
    newest_observation_end: newestObservedUs === null ? null : instant(newestObservedUs),
    newest_complete_observation_end: complete ? instant(complete.startUs + windowUs) : null,
    age_seconds: age,
    max_age_seconds: maxAgeSeconds,
    basis: 'end of the newest observation in a closed window, against three window widths',
  };
}

function freshnessState(age: number | null, newest: Minute | undefined): WeatherFreshnessState {
  if (age === null || !newest) return 'unavailable';
  if (age > maxAgeSeconds) return 'stale';
  return newest.complete ? 'current' : 'partial';
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}

function seconds(us: number): number {
  return us / 1_000_000;
}

function rounded(value: number): number {
  return Math.round(value * 1_000_000) / 1_000_000;
}
