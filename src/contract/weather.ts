import Type from 'typebox';
import { minRateSeconds } from './limits.ts';
import { closed, count, measure, orNull, timestamp, word } from './schema.ts';
import { type CollectionName, collectionNames, conditionStates, confidences } from './vocabulary.ts';

/** Interval of the weather facts, with the bounds that the instrument chose. */
export const WeatherWindow = closed(
  {
    start: orNull(timestamp('Instant.'), 'Start, inclusive; null when nothing was observed.'),
    end: orNull(timestamp('Instant.'), 'End, exclusive; null when nothing was observed.'),
    bucket_seconds: Type.Optional(count('Width of one window, in seconds.')),
    span_seconds: measure('Length of the interval, in seconds.'),
    observed_seconds: measure('Length of the observed part, in seconds.'),
    coverage_ratio: orNull(
      measure('Ratio.'),
      'observed_seconds / span_seconds. Below 1, part of the interval was not observed; null when the span is 0.',
    ),
    observed_windows: Type.Optional(count('Windows that were observed at least in part.')),
    unobserved_windows: Type.Optional(count('Windows that were not observed at all.')),
  },
  { title: 'WeatherWindow', description: 'The interval of the weather facts, exactly as the instrument delimited it.' },
);
export type WeatherWindow = Type.Static<typeof WeatherWindow>;

/** Network conditions as a state and as text. */
export const WeatherConditions = closed(
  {
    state: word(
      conditionStates,
      'Condition state. station_offline and unavailable are absence of a reading, not calm.',
    ),
    label: Type.String({ description: 'The state, for people.' }),
    headline: Type.String({ description: 'One line.' }),
    sentence: Type.String({ description: 'One plain sentence.' }),
    confidence: word(confidences, 'Amount of history that supports the comparison.'),
    as_of: orNull(timestamp('Instant.'), 'End of the window that was compared; null if none was.'),
  },
  { title: 'WeatherConditions', description: 'Network conditions as a state and as text.' },
);
export type WeatherConditions = Type.Static<typeof WeatherConditions>;

const rateIsNull = `null when less than ${minRateSeconds} second was observed`;

/** Number of all observed events and their rate over the observed time. */
export const TotalEvents = closed(
  {
    total: orNull(count('Events.'), 'Events observed, tracked or not; null when nothing was observed.'),
    mean_rate_per_s: orNull(measure('Rate.'), `Events per observed second; ${rateIsNull}.`),
    observed_seconds: Type.Optional(measure('Observed seconds, by which the total is divided.')),
  },
  { title: 'TotalEvents', description: 'All events of the interval, each counted once, and their rate.' },
);
export type TotalEvents = Type.Static<typeof TotalEvents>;

/** Observed events of one collection. */
export const CollectionMetrics = closed(
  {
    total: count('Events observed: never an estimate of what occurred.'),
    mean_rate_per_s: orNull(measure('Rate.'), `Events per observed second; ${rateIsNull}.`),
    observed_seconds: measure('Observed seconds, by which the total is divided.'),
    observed_windows: count('Windows that were observed at least in part.'),
    unobserved_windows: count('Windows that were not observed; they are omitted, never interpolated.'),
  },
  { title: 'CollectionMetrics', description: 'Observed events of one collection.' },
);
export type CollectionMetrics = Type.Static<typeof CollectionMetrics>;

/** Meaning of each collection. A collection is one kind of event in the stream. */
const collectionMeanings: Readonly<Record<CollectionName, string>> = {
  'post.create': 'Posts created, replies and quotes included.',
  'post.create.reply': 'Posts created as replies; part of post.create.',
  'post.create.quote': 'Posts created that quote a record; part of post.create.',
  'post.delete': 'Posts deleted.',
  'like.create': 'Likes given.',
  'like.delete': 'Likes taken back.',
  'repost.create': 'Reposts made.',
  'repost.delete': 'Reposts taken back.',
  'follow.create': 'Follows begun.',
  'follow.delete': 'Follows ended.',
  'block.create': 'Blocks set.',
  'block.delete': 'Blocks lifted.',
  'listitem.create': 'Accounts added to lists.',
  'listitem.delete': 'Accounts removed from lists.',
  'profile.update': 'Profiles changed. New profiles are not counted.',
  'identity.event': 'Identity events: an account changed its handle or its DID document.',
  'account.event': 'Account events: an account was activated, deactivated, suspended, taken down or deleted.',
};

function collectionsSchema() {
  const properties: Record<string, Type.TSchema> = {};
  for (const name of collectionNames) {
    properties[name] = Type.Optional(
      Type.Union([CollectionMetrics, Type.Null()], {
        description: `${collectionMeanings[name]} Absent or null when it was not observed.`,
      }),
    );
  }
  return Type.Unsafe<Partial<Record<CollectionName, CollectionMetrics | null>>>(
    closed(properties, {
      title: 'Collections',
      description:
        'By collection name. A name that is missing was not observed. Collections overlap and do not add up: post.create includes post.create.reply and post.create.quote.',
    }),
  );
}

/** Facts of `GET /v1/weather/conditions`. */
export const WeatherConditionsFacts = closed(
  {
    conditions: Type.Union([WeatherConditions, Type.Null()], {
      description: 'Null when the instrument produced no conditions: absence of a reading, not calm.',
    }),
    window: WeatherWindow,
    total_events: TotalEvents,
  },
  {
    title: 'WeatherConditionsFacts',
    description: 'The conditions, and the interval and events on which they are based.',
  },
);
export type WeatherConditionsFacts = Type.Static<typeof WeatherConditionsFacts>;

/** Facts of `GET /v1/weather/metrics`. */
export const WeatherMetricsFacts = closed(
  { window: WeatherWindow, collections: collectionsSchema(), total_events: TotalEvents },
  { title: 'WeatherMetricsFacts', description: 'Totals and rates by collection.' },
);
export type WeatherMetricsFacts = Type.Static<typeof WeatherMetricsFacts>;
