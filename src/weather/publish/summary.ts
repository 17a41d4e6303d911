import type { CollectionSummary, WeatherSummary } from '../../artifact/recognise.ts';
import { minRateSeconds } from '../../contract/limits.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import {
  type CollectionName,
  type ConditionState,
  collectionNames,
  type Origin,
  type WeatherFreshnessState,
  type Wire,
} from '../../contract/vocabulary.ts';
import type { CollectionTime } from '../silence/silence.ts';

import type { Silence } from '../window/store-schema.ts';
import { type Interval, type Minute, minuteRule, windowFlag, windowUs } from '../window/window.ts';
import type { ConditionReading } from './conditions.ts';

/** Width of a window, in seconds. */
const windowSeconds = windowUs / 1_000_000;
/** Age of the newest observation beyond which the summary is stale, in seconds: three windows. */
export const summaryMaxAgeSeconds = 3 * windowSeconds;

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
interface SummaryInput {
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
      coverage_ratio: spanSeconds > 0 ? coverageRatio(observedSeconds, spanSeconds) : null,
      observed_windows: observedWindows,
      unobserved_windows: minutes.length - observedWindows,
    },
    conditions: describeConditions(conditions),
    ...(conditions.shortOfDays === null
      ? {}
      : { baseline: { observed_days: conditions.shortOfDays, required_days: minuteRule.minDays } }),
    total_events: {
      total: watched ? total : null,
      mean_rate_per_s: meanRate(total, observedSeconds),
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
            mean_rate_per_s: meanRate(total, observedSeconds),
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
    max_age_seconds: summaryMaxAgeSeconds,
    basis: 'end of the newest observation in a closed window, against three window widths',
  };
}

function freshnessState(age: number | null, newest: Minute | undefined): WeatherFreshnessState {
  if (age === null || !newest) return 'unavailable';
  if (age > summaryMaxAgeSeconds) return 'stale';
  return newest.complete ? 'current' : 'partial';
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}

function seconds(us: number): number {
  return us / 1_000_000;
}

/** Returns the observed share of a span, rounded. It is below 1 if any time was not observed, however short. */
function coverageRatio(observedSeconds: number, spanSeconds: number): number {
  const ratio = rounded(observedSeconds / spanSeconds);
  return observedSeconds < spanSeconds ? Math.min(ratio, 0.999999) : ratio;
}

/** Returns the events per observed second, or null if too little was observed for a rate. */
function meanRate(total: number, observedSeconds: number): number | null {
  return observedSeconds < minRateSeconds ? null : rounded(total / observedSeconds);
}

function rounded(value: number): number {
  return Math.round(value * 1_000_000) / 1_000_000;
}

/**
 * Documented interval, in hours, at which hosts compact their history.
 */
export const compactionHours = 4;

/**
 * Returns the caveats about compacted history, repeated rows and missing event numbers, each with the affected amount.
 */
function weatherCaveats(minutes: readonly Minute[]): string[] {
  return [compaction(minutes), resync(minutes), leftOut(minutes)].filter((caveat) => caveat !== null);
}

/** Returns one sentence, with the time of the silence, for each collection that was silent while others continued. */
export function silenceCaveats(minutes: readonly Minute[], silences: readonly Silence[]): string[] {
  const newest = minutes.at(-1);
  if (!newest) return [];
  const endUs = newest.startUs + windowUs;
  return collectionNames.flatMap((collection) => {
    const own = silences.filter((silence) => silence.collection === collection);
    const last = own.at(-1);
    if (!last) return [];
    const span = last.to >= endUs ? `since ${instant(last.from)}` : `from ${instant(last.from)} to ${instant(last.to)}`;
    const others = own.length - 1;
    const earlier = others === 0 ? '' : `, and at ${others} other ${others === 1 ? 'time' : 'times'} before`;
    return [
      `The host sent no ${collection} events ${span}${earlier}, while it sent others: that time counts as not observed for this ` +
        'collection. The window and the total of all events include it.',
    ];
  });
}

/** Collections that are not counted in all minutes, or for which the series has no event. */
interface CountingLimits {
  readonly countedSince: ReadonlyMap<CollectionName, number>;
  readonly unseen: ReadonlySet<CollectionName>;
}

/**
 * Returns the caveats for collections that were not counted from the beginning, or for which the host has sent no
 * event.
 */
function countingCaveats(minutes: readonly Minute[], { countedSince, unseen }: CountingLimits): string[] {
  const startUs = minutes[0]?.startUs ?? 0;
  const late = [...countedSince].filter(([, sinceUs]) => sinceUs > startUs);
  return [
    ...late.map(
      ([collection, sinceUs]) =>
        `${collection} events have been counted since ${instant(sinceUs)}: earlier time counts as not observed for this collection.`,
    ),
    ...(unseen.size === 0
      ? []
      : [
          `No event of these collections was received since the observation of this host began: ${[...unseen].join(', ')}. They ` +
            'are not published as zero, because the host may omit them.',
        ]),
  ];
}

/**
 * Returns the caveat for counts from compacted history, or null if there are no such counts. Compacted history lacks
 * creates and updates that were later deleted or superseded.
 */
function compaction(minutes: readonly Minute[]): string | null {
  const watched = sum(minutes, ({ observedUs }) => observedUs);
  const old = sum(minutes, ({ observedUs, flags }) => ((flags & windowFlag.compacted) === 0 ? 0 : observedUs));
  if (old === 0) return null;
  const percent = Math.max(0.1, (old / watched) * 100).toFixed(1);
  return (
    `${percent} % of the observed time was read from history older than ${compactionHours} hours, which hosts compact, ` +
    'or from history whose numbers have holes: creates and updates that were deleted or superseded since may be missing from the counts of that time.'
  );
}

function resync(minutes: readonly Minute[]): string | null {
  const rows = sum(minutes, (minute) => minute.resync);
  if (rows === 0) return null;
  return (
    `${rows} rows that repeat records after a repository was synchronised again are not counted: they are not actions of an account. They are ` +
    'detected only by their account and time.'
  );
}

function leftOut(minutes: readonly Minute[]): string | null {
  const numbers = sum(minutes, (minute) => minute.leftOut);
  if (numbers === 0) return null;
  return (
    `The host left out ${numbers} of its event numbers while it was observed live: events were lost, or the numbers ` +
    'were never used.'
  );
}

function sum(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  return minutes.reduce((total, minute) => total + of(minute), 0);
}

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
function describeConditions({
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
      : ` A comparison needs ${minuteRule.minDays} earlier days of this hour: ${shortOfDays} of ${minuteRule.minDays} days observed.`;
  return {
    state,
    label,
    headline,
    sentence: state === 'unavailable' || state === 'station_offline' ? sentence + baseline : sentence + measured,
    confidence,
    as_of: asOfUs === null ? null : formatTimestamp(asOfUs / 1000),
  };
}
