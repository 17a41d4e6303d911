import { collectionNames, wires } from '../../contract/vocabulary.ts';
import { hoursOf } from '../days/calendar.ts';
import { type LabelsDay, sourceStates } from '../hours/labels-day.ts';
import type { DaySeries, HourCounts, WeatherDay } from '../hours/weather-day.ts';
import {
  acceptanceClock,
  column,
  type DayHours,
  type Edition,
  type FilledTable,
  filesOf,
  type Row,
  secondsOf,
  streamClock,
  sumOf,
  type Table,
} from './table.ts';

/**
 * The tables of days that were closed before the second edition. Their bytes are covered by the log, so they must not
 * change. They have a row for each hour, with empty cells where nothing was observed.
 */

/** Value of `collection` in rows with events of all kinds. */
const allCollections = 'total';

const weather = { clock: streamClock };
const labels = { clock: acceptanceClock };
const orNull = { isNullable: true };
const labelCount = { ...labels, ...orNull, unit: 'labels' };

const weatherByHour: Table = {
  name: 'weather-by-hour',
  key: ['hour', 'host', 'protocol', 'collection'],
  gaps: null,
  parent: null,
  description:
    'Network events by hour, host, protocol and collection. Series of two hosts or protocols must never be added.',
  columns: [
    column('hour', 'hour', 'Start of the hour, in UTC.', weather),
    column('host', 'text', 'Host whose stream was read.'),
    column('protocol', 'text', 'Protocol of the stream.', { values: wires }),
    column(
      'published',
      'flag',
      'True for the series that was published as the weather when the day was last recorded.',
    ),
    column(
      'collection',
      'text',
      'Kind of events; `total` for events of all kinds, including kinds without a row of their own.',
      { values: [allCollections, ...collectionNames] },
    ),
    column('events', 'count', 'Number of observed events; null if nothing was observed.', { ...weather, ...orNull }),
    column('observed_seconds', 'seconds', 'Observed part of the hour; null if the archive has no information.', {
      ...weather,
      ...orNull,
    }),
  ],
};

const labelsByHour: Table = {
  name: 'labels-by-hour',
  key: ['hour'],
  gaps: null,
  parent: null,
  description: 'Observed label applications and removals of all labelers by hour, and the states of the sources.',
  columns: [
    column('hour', 'hour', 'Start of the hour, in UTC.', labels),
    column('applications', 'count', 'Accepted applications; null if no labeler was observed.', labelCount),
    column('removals', 'count', 'Accepted removals; null if no labeler was observed.', labelCount),
    column(
      'repeats',
      'count',
      'Rows that repeat known labels after a change of key; not part of the counts.',
      labelCount,
    ),
    column(
      'observed_seconds',
      'seconds',
      'Time during which the instrument accepted labels; null if the archive has no information.',
      {
        ...labels,
        ...orNull,
      },
    ),
    column('labeler_seconds', 'seconds', 'Sum of the observed seconds of all labelers.', { ...labels, ...orNull }),
    ...['enrolled', ...sourceStates].map((state) =>
      column(`sources_${state}`, 'count', `Sources that were ${state.replaceAll('_', ' ')} at the end of the hour.`, {
        ...labels,
        ...orNull,
        unit: 'sources',
      }),
    ),
  ],
};

const labelsByLabeler: Table = {
  name: 'labels-by-labeler',
  key: ['day', 'labeler_did'],
  gaps: null,
  parent: null,
  description: 'Observed label applications and removals of the day by labeler.',
  columns: [
    column('day', 'day', 'The day, in UTC.', labels),
    column('labeler_did', 'text', 'DID of the labeler, which is a public moderation service.'),
    column('applications', 'count', 'Accepted applications; null if the labeler was not observed.', labelCount),
    column('removals', 'count', 'Accepted removals; null if the labeler was not observed.', labelCount),
    column('observed_seconds', 'seconds', 'Time during which the labeler was observed on that day.', labels),
  ],
};

/** The first edition of the tables. */
export const firstEdition: Edition = {
  schema: 'almanac.archive.tables/v1',
  tables: [weatherByHour, labelsByHour, labelsByLabeler],
  lineEnd: '\r\n',
  files: filesOf([weatherByHour, labelsByHour, labelsByLabeler]),
  fill: firstTables,
};

function firstTables({ weather: sky, labels: own }: DayHours, until: number): FilledTable[] {
  const hours = hoursOf(sky.day, until);
  return [
    { table: weatherByHour, rows: weatherRows(sky, hours) },
    { table: labelsByHour, rows: labelRows(own, hours) },
    { table: labelsByLabeler, rows: labelerRows(own, hours.length) },
  ];
}

function weatherRows({ series }: WeatherDay, hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place) => series.flatMap((one) => seriesRows(one, hour, place)));
}

function seriesRows(series: DaySeries, hour: string, place: number): Row[] {
  const isStated = series.through[place] !== null;
  const row = (collection: string, { events, observed_seconds }: HourCounts): Row => {
    const seconds = isStated ? (observed_seconds[place] ?? 0) : null;
    return [hour, series.host, series.protocol, series.published, collection, events[place] ?? null, seconds];
  };
  const named = collectionNames.flatMap((name) => {
    const counts = series.collections[name];
    return counts ? [row(name, counts)] : [];
  });
  return [row(allCollections, series), ...named];
}

function labelRows({ hours: stated }: LabelsDay, hours: readonly string[]): Row[] {
  return hours.map((hour, place) => {
    const own = stated[place] ?? null;
    const sources = own?.sources ?? null;
    return [
      hour,
      ...[own?.applications, own?.removals, own?.repeats, own?.observed_seconds, own?.labeler_seconds].map(cellOf),
      ...[sources?.enrolled, ...sourceStates.map((state) => sources?.[state])].map(cellOf),
    ];
  });
}

function cellOf(value: number | null | undefined): number | null {
  return value ?? null;
}

function labelerRows({ day, labelers }: LabelsDay, hours: number): Row[] {
  return labelers.map(({ labeler_did, applications, removals, observed_seconds }) => [
    day,
    labeler_did,
    sumOf(applications.slice(0, hours)),
    sumOf(removals.slice(0, hours)),
    secondsOf(observed_seconds.slice(0, hours)),
  ]);
}
