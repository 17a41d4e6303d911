import { collectionNames } from '../../contract/vocabulary.ts';
import { hoursOf } from '../days/calendar.ts';
import { type LabelsDay, sourceStates } from '../hours/labels-day.ts';
import type { DaySeries, HourCounts, WeatherDay } from '../hours/weather-day.ts';
import { allCollections, labelsByHour, labelsByLabeler, type Row, type Table, weatherByHour } from './columns.ts';

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
    { table: labelsByHour, rows: labelRows(labels, hours) },
    { table: labelsByLabeler, rows: labelerRows(labels, hours.length) },
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
      ...[own?.applications, own?.removals, own?.repeats, own?.observed_seconds, own?.labeler_seconds].map(orNull),
      ...[sources?.enrolled, ...sourceStates.map((state) => sources?.[state])].map(orNull),
    ];
  });
}

function orNull(value: number | null | undefined): number | null {
  return value ?? null;
}

function labelerRows({ day, labelers }: LabelsDay, hours: number): Row[] {
  return labelers.map(({ labeler_did, applications, removals, observed_seconds }) => [
    day,
    labeler_did,
    sumOf(applications.slice(0, hours)),
    sumOf(removals.slice(0, hours)),
    // Round to microseconds: adding decimal fractions produces digits that no fact states.
    Math.round((sumOf(observed_seconds.slice(0, hours)) ?? 0) * 1e6) / 1e6,
  ]);
}

/** Returns the sum of the known values; null if all are unknown. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
