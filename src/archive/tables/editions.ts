import type { CollectionName } from '../../contract/vocabulary.ts';
import { hourMs, hoursOf, instantOf } from '../days/calendar.ts';
import type { DayRecord } from '../days/records.ts';
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
  type ownReasons,
  packageFile,
  postKinds,
  separateCollections,
  tables,
  weatherCollections,
  weatherGaps,
  weatherOtherHosts,
  weatherPostKinds,
  weatherTotals,
  wholeScope,
} from './columns.ts';
import { firstEdition } from './first-edition.ts';
import { type DayHours, type Edition, type FilledTable, filesOf, type Row, secondsOf, sumOf } from './table.ts';

/** The edition of all days that are open, or were closed since it exists. */
export const currentEdition: Edition = {
  schema: 'almanac.archive.tables/v2',
  tables,
  lineEnd: '\n',
  files: [packageFile, ...filesOf(tables)],
  fill: dayTables,
};

/** Returns the edition of the tables that the record of a day lists or states as withheld. */
export function editionOf({ files, withheld }: DayRecord): Edition {
  const names = [...files.map(({ name }) => name), ...withheld];
  return names.some((name) => firstEdition.files.includes(name)) ? firstEdition : currentEdition;
}

/** Returns true for a file of the current edition that `archive rebuild` may have added to a day of the first one. */
export function isAdded(record: DayRecord, name: string): boolean {
  return record.state === 'closed' && currentEdition.files.includes(name) && editionOf(record) === firstEdition;
}

function dayTables({ weather, labels }: DayHours, until: number): FilledTable[] {
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

function lateRows(labels: LabelsDay, hours: readonly string[]): Row[] {
  // The instrument states zeros also for an hour that it did not observe.
  const counted = new Set(labelRows(labels, hours).map(([, hour]) => hour));
  return hours.flatMap((hour, place): Row[] => {
    const late = labels.hours[place]?.filled_in;
    return late && counted.has(hour)
      ? [[dayOf(hour), hour, late.applications, late.removals, late.observed_seconds]]
      : [];
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

function dayOf(hour: string): string {
  return hour.slice(0, 10);
}

/** An interval without observation, in milliseconds since 1970. */
interface Gap {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** The hours of a day that are over, and the gaps that files of the archive state. */
interface Hours {
  readonly day: string;
  readonly hours: readonly string[];
}

type OwnReason = (typeof ownReasons)[number];

/** Returns the rows with the gaps of a series; `series` is undefined on a day without weather. */
function weatherGapRows(weather: WeatherDay, series: DaySeries | undefined, hours: readonly string[]): Row[] {
  const own = { day: weather.day, hours };
  const stated = (series?.gaps ?? []).map((gap) => ({ ...spanOf(gap), collection: gap.collection }));
  const isElsewhere = (place: number) => weather.series.some(({ through }) => (through[place] ?? null) !== null);
  const whole = covered(own, {
    stated: [
      ...unknownHours(
        own,
        (place) => series?.through[place] ?? null,
        (place) => weather.failures[place] ?? (isElsewhere(place) ? 'other_host' : 'not_archived'),
      ),
      ...stated.filter(({ collection }) => collection === null),
    ],
    hasCount: (place) => (series?.events[place] ?? null) !== null,
  });
  const counts = Object.entries(series?.collections ?? {}) as [
    CollectionName,
    DaySeries['collections'][CollectionName],
  ][];
  const single = counts.flatMap(([name, count]) => {
    const gaps = covered(own, {
      stated: stated.filter(({ collection }) => collection === name),
      hasCount: (place) => (count?.events[place] ?? null) !== null,
      others: whole,
    });
    return rowsOf(own, name, gaps);
  });
  return [...rowsOf(own, wholeScope, whole), ...single];
}

/** Returns the rows with the gaps of the label instrument and of each labeler. */
function labelGapRows({ day, failures, hours: known, gaps, labelers }: LabelsDay, hours: readonly string[]): Row[] {
  const own = { day, hours };
  const whole = covered(own, {
    stated: [
      ...unknownHours(
        own,
        (place) => known[place]?.through ?? null,
        (place) => failures[place] ?? 'not_archived',
      ),
      ...gaps.map(spanOf),
    ],
    hasCount: (place) => (known[place]?.applications ?? null) !== null,
  });
  const single = labelers.flatMap((labeler) => {
    const { labeler_did: did, applications } = labeler;
    const hasCount = (place: number) => (applications[place] ?? null) !== null;
    return rowsOf(own, did, covered(own, { stated: labeler.gaps.map(spanOf), hasCount, others: whole }));
  });
  return [...rowsOf(own, wholeScope, whole), ...single];
}

function spanOf(gap: { readonly start: string; readonly end: string; readonly reason: string }): Gap {
  return { start: Date.parse(gap.start), end: Date.parse(gap.end), reason: gap.reason };
}

/** Returns the parts of the hours that the hours file does not cover. */
function unknownHours(
  { hours }: Hours,
  throughOf: (place: number) => string | null,
  reasonOf: (place: number) => string,
): Gap[] {
  return hours.flatMap((hour, place) => {
    const end = Date.parse(hour) + hourMs;
    const through = throughOf(place);
    if (through !== null && Date.parse(through) >= end) return [];
    const incomplete: OwnReason = 'incomplete';
    const reason = through === null ? reasonOf(place) : incomplete;
    return [{ start: Date.parse(through ?? hour), end, reason }];
  });
}

interface Coverage {
  readonly stated: readonly Gap[];
  /** Returns true if the hour with index `place` has a count. */
  readonly hasCount: (place: number) => boolean;
  /** Gaps of a wider scope, which already cover a part of the hours without a count. */
  readonly others?: readonly Gap[];
}

/**
 * Returns the stated gaps within the hours, without overlaps, followed by gaps with the reason `unknown` for the parts
 * of hours without a count that no gap covers. The result is in the order of time; touching gaps with the same reason are
 * joined.
 */
function covered({ hours }: Hours, { stated, hasCount, others = [] }: Coverage): Gap[] {
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined) return [];
  const day = { start: Date.parse(first), end: Date.parse(last) + hourMs, reason: '' };
  const own = separate(stated.map((gap) => within(gap, day)));
  const known = separate([...own, ...others]);
  const missing = hours.flatMap((hour, place): Gap[] => {
    if (hasCount(place)) return [];
    const reason: OwnReason = 'unknown';
    const start = Date.parse(hour);
    return without({ start, end: start + hourMs, reason }, known);
  });
  return joined([...own, ...missing].sort((a, b) => a.start - b.start));
}

function within(gap: Gap, { start, end }: Gap): Gap {
  return { ...gap, start: Math.max(gap.start, start), end: Math.min(gap.end, end) };
}

/** Returns the gaps in the order of time. Of overlapping gaps, the later one is shortened. */
function separate(gaps: readonly Gap[]): Gap[] {
  let at = Number.NEGATIVE_INFINITY;
  return gaps
    .toSorted((a, b) => a.start - b.start)
    .flatMap((gap) => {
      const start = Math.max(gap.start, at);
      if (start >= gap.end) return [];
      at = gap.end;
      return [{ ...gap, start }];
    });
}

/** Returns the parts of a gap that none of the separate gaps covers. */
function without(gap: Gap, known: readonly Gap[]): Gap[] {
  const near = known.filter(({ start, end }) => start < gap.end && end > gap.start);
  const ends = [gap.start, ...near.map(({ end }) => end)];
  const starts = [...near.map(({ start }) => start), gap.end];
  return ends.flatMap((start, place) => {
    const end = starts[place] ?? gap.end;
    return start < end ? [{ ...gap, start, end }] : [];
  });
}

function joined(gaps: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  for (const gap of gaps) {
    const last = result.at(-1);
    if (last?.end === gap.start && last.reason === gap.reason) result[result.length - 1] = { ...last, end: gap.end };
    else result.push(gap);
  }
  return result;
}

function rowsOf({ day }: Hours, scope: string, gaps: readonly Gap[]): Row[] {
  return gaps.map(({ start, end, reason }) => {
    const second = 1_000;
    const [from, to] = [Math.floor(start / second) * second, Math.ceil(end / second) * second];
    return [day, scope, reason, instantOf(from), (end - start) / second, instantOf(to)];
  });
}
