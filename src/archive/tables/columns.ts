import { collectionNames, wires } from '../../contract/vocabulary.ts';
import { sourceStates } from '../hours/labels-day.ts';

/** Kind of a column's cells. Hours and days are text in CSV and timestamps in Parquet. */
export type CellKind = 'hour' | 'day' | 'text' | 'count' | 'seconds' | 'rate' | 'flag';
/** A cell; null means not observed or not known, never 0. */
export type Cell = string | number | boolean | null;
/** A row of a table, with one cell for each column. */
export type Row = readonly Cell[];

/** A column with its entry in the data dictionary. */
export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  readonly isNullable: boolean;
  readonly unit: string | null;
  /** Clock that determines the row to which an event belongs; null for a column that does not depend on a clock. */
  readonly clock: string | null;
  readonly description: string;
  /** Possible values of a text column; null if any text is possible. */
  readonly values: readonly string[] | null;
  /** True for a column that the tables of days from before its introduction do not have. */
  readonly isAbsentBefore?: boolean;
}

/** A daily table. */
export interface Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
}

const streamClock = "stream: the times in the host's stream";
const acceptanceClock = 'acceptance: the clock of the label instrument when it accepted a label';
/** Value of `collection` in rows with events of all kinds. */
export const allCollections = 'total';

function column(name: string, kind: CellKind, description: string, more: Partial<Column> = {}): Column {
  const unit = kind === 'seconds' ? 'seconds' : kind === 'count' ? 'events' : null;
  return { name, kind, isNullable: false, unit, clock: null, values: null, description, ...more };
}

const weather = { clock: streamClock };
const labels = { clock: acceptanceClock };
const orNull = { isNullable: true };
const labelCount = { ...labels, ...orNull, unit: 'labels' };

/** Table with the weather of a day by hour, series and collection. */
export const weatherByHour: Table = {
  name: 'weather-by-hour',
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

const late = { ...labelCount, isAbsentBefore: true };
const notStated = 'null if not stated apart, and absent on days before this was stated.';
/**
 * Columns with the labels that were read late: labels of an outage arrive together when it is over. They are part of
 * the counts of the hour in which they were accepted, and of no rate.
 */
export const lateColumns: readonly Column[] = [
  column('filled_in_applications', 'count', `Part of \`applications\` that was read late; ${notStated}`, late),
  column('filled_in_removals', 'count', `Part of \`removals\` that was read late; ${notStated}`, late),
  column(
    'filled_in_seconds',
    'seconds',
    `Part of \`observed_seconds\` whose labels were read late, which belongs to no rate; ${notStated}`,
    { ...late, unit: 'seconds' },
  ),
];
const labelsPerHour = column(
  'labels_per_hour',
  'rate',
  `Sum of the labelers' rates: each labeler's applications and removals divided by its observed time, both without what was read late. Omits labelers with less than half of the hour; ${notStated}`,
  { ...late, unit: 'labels per hour' },
);

/** Table with the labels of a day by hour. */
export const labelsByHour: Table = {
  name: 'labels-by-hour',
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
    ...lateColumns,
    labelsPerHour,
  ],
};

/** Table with the labels of a day by labeler. */
export const labelsByLabeler: Table = {
  name: 'labels-by-labeler',
  description: 'Observed label applications and removals of the day by labeler.',
  columns: [
    column('day', 'day', 'The day, in UTC.', labels),
    column('labeler_did', 'text', 'DID of the labeler, which is a public moderation service.'),
    column('applications', 'count', 'Accepted applications; null if the labeler was not observed.', labelCount),
    column('removals', 'count', 'Accepted removals; null if the labeler was not observed.', labelCount),
    column('observed_seconds', 'seconds', 'Time during which the labeler was observed on that day.', labels),
    ...lateColumns,
  ],
};

/** All daily tables. */
export const tables: readonly Table[] = [weatherByHour, labelsByHour, labelsByLabeler];
/** File formats of each table; the name of the format is the file extension. */
export const tableFormats = ['csv', 'parquet'] as const;
/** Names of the files of all tables. */
export const tableFiles: readonly string[] = tables.flatMap(({ name }) => tableFormats.map((ext) => `${name}.${ext}`));
