import { hoursOf } from '../days/calendar.ts';
import type { DayHours } from '../hours/day-hours.ts';
import type { LabelsDay } from '../hours/labels-day.ts';
import type { DaySeries, HourCounts, WeatherDay } from '../hours/weather-day.ts';
import {
  labelsGaps,
  labelsLabelers,
  labelsLate,
  labelsLateLabelers,
  labelsRates,
  labelsSources,
  labelsTotals,
  postKinds,
  separateCollections,
  weatherCollections,
  weatherGaps,
  weatherOtherHosts,
  weatherPostKinds,
  weatherTotals,
} from './columns.ts';
import { labelGapRows, weatherGapRows } from './day-gaps.ts';
import type { FilledTable, Row } from './table.ts';

/** Computes the tables of a day. They contain the hours that are over at `until` (milliseconds since 1970). */
export function dayTables({ weather, labels }: DayHours, until: number): FilledTable[] {
  const hours = hoursOf(weather.day, until);
  const series = publishedSeries(weather);
  const others = weather.series.filter((one) => one !== series);
  return [
    { table: weatherTotals, rows: series ? totalRows(series, hours) : [] },
    { table: weatherCollections, rows: series ? collectionRows(series, separateCollections, hours) : [] },
    { table: weatherPostKinds, rows: series ? collectionRows(series, postKinds, hours) : [] },
    { table: weatherOtherHosts, rows: otherRows(others, hours) },
    { table: weatherGaps, rows: weatherGapRows(weather, series, hours) },
    { table: labelsTotals, rows: labelRows(labels, hours) },
    { table: labelsLabelers, rows: labelerRows(labels, hours.length) },
    { table: labelsRates, rows: rateRows(labels, hours) },
    { table: labelsLate, rows: lateRows(labels, hours) },
    { table: labelsLateLabelers, rows: lateLabelerRows(labels, hours.length) },
    { table: labelsSources, rows: sourceRows(labels, hours) },
    { table: labelsGaps, rows: labelGapRows(labels, hours) },
  ];
}

/** Returns the published series; of several, the one that was observed longest. */
function publishedSeries({ series }: WeatherDay): DaySeries | undefined {
  const seconds = ({ observed_seconds }: DaySeries): number => observed_seconds.reduce((sum, one) => sum + one, 0);
  return series.filter(({ published }) => published).sort((a, b) => seconds(b) - seconds(a))[0];
}

/** Returns the cells of an hour with a count; null for any other hour. */
function countedAt({ events, observed_seconds }: HourCounts, place: number): [number, number] | null {
  const count = events[place] ?? null;
  return count === null ? null : [count, observed_seconds[place] ?? 0];
}

function totalRows(series: DaySeries, hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place) => {
    const counted = countedAt(series, place);
    return counted ? [[dayOf(hour), hour, ...counted, series.host, series.protocol]] : [];
  });
}

function collectionRows(
  series: DaySeries,
  names: readonly (keyof DaySeries['collections'])[],
  hours: readonly string[],
): Row[] {
  return hours.flatMap((hour, place) =>
    names.flatMap((name): Row[] => {
      const counts = series.collections[name];
      const counted = counts && countedAt(counts, place);
      return counted ? [[dayOf(hour), hour, name, ...counted, series.host]] : [];
    }),
  );
}

function otherRows(others: readonly DaySeries[], hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place) =>
    others.flatMap((series): Row[] => {
      const counted = countedAt(series, place);
      return counted ? [[dayOf(hour), hour, series.host, ...counted, series.protocol]] : [];
    }),
  );
}

function labelRows({ hours: stated }: LabelsDay, hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place): Row[] => {
    const own = stated[place] ?? null;
    if (own === null || own.applications === null || own.removals === null || own.repeats === null) return [];
    const { applications, removals, observed_seconds, labeler_seconds, repeats } = own;
    return [[dayOf(hour), hour, applications, removals, observed_seconds, labeler_seconds, repeats]];
  });
}

function rateRows({ hours: stated }: LabelsDay, hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place): Row[] => {
    const own = stated[place] ?? null;
    const rate = own?.applications === null ? null : (own?.labels_per_hour ?? null);
    return own === null || rate === null ? [] : [[dayOf(hour), hour, rate, own.labeler_seconds]];
  });
}

function lateRows({ hours: stated }: LabelsDay, hours: readonly string[]): Row[] {
  return hours.flatMap((hour, place): Row[] => {
    const late = stated[place]?.filled_in;
    return late ? [[dayOf(hour), hour, late.applications, late.removals, late.observed_seconds]] : [];
  });
}

function lateLabelerRows({ day, labelers }: LabelsDay, hours: number): Row[] {
  return labelers.flatMap(({ labeler_did, applications, filled_in = [] }): Row[] => {
    const parts = filled_in.filter(({ at }) => at < hours);
    if (parts.length === 0 || sumOf(applications.slice(0, hours)) === null) return [];
    const [added, removed] = [sumOf(parts.map((part) => part.applications)), sumOf(parts.map((part) => part.removals))];
    return [[day, labeler_did, added, removed, secondsOf(parts.map((part) => part.observed_seconds))]];
  });
}

function sourceRows({ hours: stated }: LabelsDay, hours: readonly string[]): Row[] {
  const [, , ...columns] = labelsSources.columns;
  return hours.flatMap((hour, place): Row[] => {
    const sources: Readonly<Record<string, string | number>> | null = stated[place]?.sources ?? null;
    return sources === null ? [] : [[dayOf(hour), hour, ...columns.map(({ name }) => sources[name] ?? null)]];
  });
}

function labelerRows({ day, labelers }: LabelsDay, hours: number): Row[] {
  return labelers.flatMap(({ labeler_did, applications, removals, observed_seconds }): Row[] => {
    const counts = [sumOf(applications.slice(0, hours)), sumOf(removals.slice(0, hours))];
    if (counts.includes(null)) return [];
    const seconds = observed_seconds.slice(0, hours);
    return [[day, labeler_did, ...counts, secondsOf(seconds), seconds.filter((one) => one > 0).length]];
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

function dayOf(hour: string): string {
  return hour.slice(0, 10);
}
