import { collectionNames } from '../../contract/vocabulary.ts';
import { hoursOf } from '../days/calendar.ts';
import { type FilledInPart, type LabelsDay, sourceStates } from '../hours/labels-day.ts';
import type { DaySeries, HourCounts, WeatherDay } from '../hours/weather-day.ts';
import {
  allCollections,
  type Cell,
  labelsByHour,
  labelsByLabeler,
  type Row,
  type Table,
  weatherByHour,
} from './columns.ts';

/** A table with its rows. */
export interface FilledTable {
  readonly table: Table;
  readonly rows: readonly Row[];
}

/** Hourly weather and labels of one day, as the archive keeps them. */
export interface DayHours {
  readonly weather: WeatherDay;
  readonly labels: LabelsDay;
}

/** Computes the tables of a day. They contain the hours that are over at `until` (milliseconds since 1970). */
export function dayTables({ weather, labels }: DayHours, until: number): FilledTable[] {
  const hours = hoursOf(weather.day, until);
  return [
    { table: weatherByHour, rows: weatherRows(weather, hours) },
    ...[
      { table: labelsByHour, rows: labelRows(labels, hours) },
      { table: labelsByLabeler, rows: labelerRows(labels, hours.length) },
    ].map((filled) => (statesLate(labels) ? filled : withoutLate(filled))),
  ];
}

/** Returns true if the instrument stated apart what was read late, in any hour of the day. */
function statesLate({ hours }: LabelsDay): boolean {
  return hours.some((hour) => hour?.filled_in !== undefined);
}

/** Returns the table as it was before the columns of late labels, so that earlier days keep their bytes. */
function withoutLate({ table, rows }: FilledTable): FilledTable {
  const columns = table.columns.filter(({ isAbsentBefore = false }) => !isAbsentBefore);
  return { table: { ...table, columns }, rows: rows.map((row) => row.slice(0, columns.length)) };
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
      ...[own?.applications, own?.removals, own?.repeats, own?.observed_seconds, own?.labeler_seconds].map(orNull),
      ...[sources?.enrolled, ...sourceStates.map((state) => sources?.[state])].map(orNull),
      ...lateCells(own?.filled_in),
      orNull(own?.labels_per_hour),
    ];
  });
}

function orNull(value: number | null | undefined): number | null {
  return value ?? null;
}

function lateCells(part: Omit<FilledInPart, 'at'> | undefined): Cell[] {
  return [part?.applications, part?.removals, part?.observed_seconds].map(orNull);
}

function labelerRows({ day, labelers, hours: stated }: LabelsDay, hours: number): Row[] {
  // A sum over hours of which some did not state late labels apart would be too small.
  const isStated = stated.slice(0, hours).every((hour) => hour === null || hour.filled_in !== undefined);
  return labelers.map(({ labeler_did, applications, removals, observed_seconds, filled_in = [] }) => {
    const parts = filled_in.filter(({ at }) => at < hours);
    const late = {
      applications: sumOf(parts.map((part) => part.applications)) ?? 0,
      removals: sumOf(parts.map((part) => part.removals)) ?? 0,
      observed_seconds: secondsOf(parts.map((part) => part.observed_seconds)),
    };
    return [
      ...[day, labeler_did, sumOf(applications.slice(0, hours)), sumOf(removals.slice(0, hours))],
      secondsOf(observed_seconds.slice(0, hours)),
      ...lateCells(isStated ? late : undefined),
    ];
  });
}

/** Returns a sum rounded to microseconds: adding decimal fractions produces digits that no fact states. */
function secondsOf(values: readonly number[]): number {
  return Math.round((sumOf(values) ?? 0) * 1e6) / 1e6;
}

/** Returns the sum of the known values; null if all are unknown. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
