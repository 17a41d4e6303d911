import {
  type CollectionName,
  collectionNames,
  gapReasons,
  weatherGapReasons,
  wires,
} from '../../contract/vocabulary.ts';
import { hoursFailures } from '../hours/hour-lists.ts';
import { sourceStates } from '../hours/labels-day.ts';
import { acceptanceClock, type Column, column, streamClock, type Table } from './table.ts';

/**
 * The tables of a day. A row exists only for what was observed, so that no tool can take an unobserved hour for zero;
 * the tables of gaps state what is missing. No two rows of a column count the same event, so that its sum is right. The
 * last column is rarely compared: on a file with foreign line ends, a comparison of the last column fails
 * silently.
 */

const weather = { clock: streamClock };
const labels = { clock: acceptanceClock };
const labelCount = { ...labels, unit: 'labels' };
const sources = { ...labels, unit: 'sources' };

/** Collections whose events are also counted by `post.create`. A post may be both. */
export const postKinds: readonly CollectionName[] = ['post.create.reply', 'post.create.quote'];
/** Collections of which each event belongs to exactly one. */
export const separateCollections: readonly CollectionName[] = collectionNames.filter(
  (name) => !postKinds.includes(name),
);
/** Value of `scope` for a gap of the whole stream, or of the whole label instrument. */
export const wholeScope = 'all';
/**
 * Reasons of gaps that no file states. `other_host`: another host was read. `unknown`: there is no count, but no reason
 * is known.
 */
export const ownReasons = ['incomplete', 'not_archived', 'other_host', 'unknown'] as const;

function timeColumns(clock: { readonly clock: string }): Column[] {
  return [column('day', 'day', 'The day, in UTC.', clock), column('hour', 'hour', 'Start of the hour, in UTC.', clock)];
}

const events = column('events', 'count', 'Number of observed events.', weather);
const observed = column('observed_seconds', 'seconds', 'Observed part of the hour.', weather);
const host = column('host', 'text', 'Host whose stream was read.');
const protocol = column('protocol', 'text', 'Protocol of the stream.', { values: wires });

/** Table with the weather of a day by hour. */
export const weatherTotals: Table = {
  name: 'weather-totals',
  description:
    'All network events by hour, of the series that was published as the weather when the day was last recorded.',
  columns: [...timeColumns(weather), events, observed, host, protocol],
  key: ['hour'],
  gaps: 'weather-gaps',
  parent: null,
};

/** Table with the weather of a day by hour and collection. */
export const weatherCollections: Table = {
  name: 'weather-collections',
  description: 'Network events of the same series by hour and collection. Each event is counted at most once.',
  columns: [
    ...timeColumns(weather),
    column('collection', 'text', 'Kind of events.', { values: separateCollections }),
    ...[events, observed, host],
  ],
  key: ['hour', 'collection'],
  gaps: 'weather-gaps',
  parent: { table: 'weather-totals', columns: ['hour'] },
};

/** Table with the kinds of posts of a day by hour. */
export const weatherPostKinds: Table = {
  ...weatherCollections,
  name: 'weather-post-kinds',
  description:
    'Replies and quotes of the same series by hour. They are also counted as `post.create`, and a post can be both.',
  columns: weatherCollections.columns.map((one) => (one.name === 'collection' ? { ...one, values: postKinds } : one)),
};

/** Table with the weather of the hosts that were read besides the published one. */
export const weatherOtherHosts: Table = {
  name: 'weather-other-hosts',
  description: 'All network events by hour of the other series that were read on that day. They see the same events.',
  columns: [...timeColumns(weather), host, events, observed, protocol],
  key: ['hour', 'host', 'protocol'],
  gaps: null,
  parent: null,
};

const span = [
  column('start', 'instant', 'Start of the gap, in UTC, rounded down to a second.'),
  column('seconds', 'seconds', 'Length of the gap.'),
  column('end', 'instant', 'End of the gap (exclusive), in UTC, rounded up to a second.'),
];

function reasons(values: readonly string[]): Column {
  return column('reason', 'text', 'Why nothing was observed.', {
    values: [...new Set([...values, ...hoursFailures, ...ownReasons])],
  });
}

/** Table with the gaps of the weather of a day. */
export const weatherGaps: Table = {
  name: 'weather-gaps',
  description:
    'Time of the day in which the published series was not observed. Gaps of the scope `all` do not overlap, and cover every hour that weather-totals lacks.',
  columns: [
    column('day', 'day', 'The day, in UTC.', weather),
    column('scope', 'text', '`all`, or the only collection that was not observed.', {
      values: [wholeScope, ...collectionNames],
    }),
    ...[reasons(weatherGapReasons), ...span],
  ],
  key: ['scope', 'start'],
  gaps: null,
  parent: null,
};

/** Table with the labels of a day by hour. */
export const labelsTotals: Table = {
  name: 'labels-totals',
  description: 'Observed label applications and removals of all labelers by hour.',
  columns: [
    ...timeColumns(labels),
    column('applications', 'count', 'Accepted applications.', labelCount),
    column('removals', 'count', 'Accepted removals.', labelCount),
    column('observed_seconds', 'seconds', 'Time during which the instrument accepted labels.', labels),
    column('labeler_seconds', 'seconds', 'Sum of the observed seconds of all labelers.', labels),
    column('repeats', 'count', 'Rows that repeat known labels after a key change; not in the counts.', labelCount),
  ],
  key: ['hour'],
  gaps: 'labels-gaps',
  parent: null,
};

/** Table with the labels of a day by labeler. */
export const labelsLabelers: Table = {
  name: 'labels-labelers',
  description: 'Observed label applications and removals of the day by labeler.',
  columns: [
    column('day', 'day', 'The day, in UTC.', labels),
    column('labeler_did', 'text', 'DID of the labeler, which is a public moderation service.'),
    column('applications', 'count', 'Accepted applications.', labelCount),
    column('removals', 'count', 'Accepted removals.', labelCount),
    column('observed_seconds', 'seconds', 'Time during which the labeler was observed on that day.', labels),
    column('observed_hours', 'count', 'Number of hours of which a part was observed.', { ...labels, unit: 'hours' }),
  ],
  key: ['day', 'labeler_did'],
  gaps: 'labels-gaps',
  parent: null,
};

/** Table with the labels of a day that were read late, by hour. */
export const labelsLate: Table = {
  name: 'labels-late',
  description:
    'Parts of the counts and times of labels-totals that were read late and belong to no rate: labels of an outage arrive together when it is over. Has a row for each hour for which they were stated apart.',
  columns: [
    ...timeColumns(labels),
    column('filled_in_applications', 'count', 'Part of `applications` that was read late.', labelCount),
    column('filled_in_removals', 'count', 'Part of `removals` that was read late.', labelCount),
    column('filled_in_seconds', 'seconds', 'Part of `observed_seconds` whose labels were read late.', labels),
  ],
  key: ['hour'],
  gaps: 'labels-gaps',
  parent: null,
};

/** Table with the labels of a day that were read late, by labeler. */
export const labelsLateLabelers: Table = {
  name: 'labels-late-labelers',
  description:
    'The same parts of labels-labelers. On a day of which labels-late has every hour of labels-totals, a labeler without a row had none.',
  columns: [
    column('day', 'day', 'The day, in UTC.', labels),
    column('labeler_did', 'text', 'DID of the labeler, which is a public moderation service.'),
    ...labelsLate.columns.slice(2),
  ],
  key: ['day', 'labeler_did'],
  gaps: null,
  parent: { table: 'labels-labelers', columns: ['day', 'labeler_did'] },
};

/** Table with the rate of the labels of a day by hour. */
export const labelsRates: Table = {
  name: 'labels-rates',
  description:
    "Sum of the labelers' rates by hour, without what was read late. Has no row for an hour of which no labeler has half, or for which late labels were not stated apart.",
  columns: [
    ...timeColumns(labels),
    column(
      'labels_per_hour',
      'rate',
      "Sum of the labelers' rates: each labeler's applications and removals divided by its observed time, both without what was read late. Omits labelers with less than half of the hour.",
      { ...labels, unit: 'labels per hour' },
    ),
    column('labeler_seconds', 'seconds', 'Sum of the observed seconds of all labelers.', labels),
  ],
  key: ['hour'],
  gaps: 'labels-gaps',
  parent: { table: 'labels-totals', columns: ['hour'] },
};

/** Table with the states of the sources of a day by hour. */
export const labelsSources: Table = {
  name: 'labels-sources',
  description: 'Number of sources by hour and state, at the last publication of the hour.',
  columns: [
    ...timeColumns(labels),
    column('enrolled', 'count', 'Enrolled sources; each is in one of the states.', sources),
    ...sourceStates
      // The last column is a state that is rarely compared.
      .toSorted((a, b) => Number(a === 'unstarted') - Number(b === 'unstarted'))
      .map((state) => column(state, 'count', `Sources that were ${state.replaceAll('_', ' ')}.`, sources)),
  ],
  key: ['hour'],
  gaps: 'labels-gaps',
  parent: null,
};

/** Table with the gaps of the labels of a day. */
export const labelsGaps: Table = {
  name: 'labels-gaps',
  description:
    'Time of the day in which labels were not observed. Gaps of the scope `all` do not overlap, apply to every labeler, and cover every hour that labels-totals lacks.',
  columns: [
    column('day', 'day', 'The day, in UTC.', labels),
    column('scope', 'text', '`all`, or the DID of the only labeler that was not observed.'),
    ...[reasons(gapReasons), ...span],
  ],
  key: ['scope', 'start'],
  gaps: null,
  parent: null,
};

/** Name of the file that describes the CSV tables of a day in a form that many tools read. */
export const packageFile = 'datapackage.json';
/** All daily tables. */
export const tables: readonly Table[] = [
  ...[weatherTotals, weatherCollections, weatherPostKinds, weatherOtherHosts, weatherGaps],
  ...[labelsTotals, labelsLabelers, labelsRates, labelsLate, labelsLateLabelers, labelsSources, labelsGaps],
];
