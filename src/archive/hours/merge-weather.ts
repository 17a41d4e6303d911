import type { WeatherHourSeries, WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { collectionNames } from '../../contract/vocabulary.ts';
import {
  dayList,
  type HoursFailure,
  notedFailures,
  placeOf,
  replacedEntries,
  replacedGaps,
  spansOf,
  throughOf,
} from './hour-lists.ts';
import { type DaySeries, type HourCounts, maxDaySeries, type WeatherDay } from './weather-day.ts';

/**
 * Merges the hours of a newer file into the weather of a day; returns the same object if the file is not newer. The
 * file of an instrument that lost its store does not erase hours before the new store's first observation. Any other
 * hour is replaced, even if the newer file reports less observed time for it. Series beyond the maximum number of a day
 * are ignored.
 */
export function mergeWeather(kept: WeatherDay, file: WeatherHours): WeatherDay {
  if (kept.generated_at !== null && Date.parse(file.generated_at) <= Date.parse(kept.generated_at)) return kept;
  const series = new Map(kept.series.map((one) => [keyOf(one), one]));
  for (const own of file.series) {
    const host = URL.parse(own.endpoint)?.host ?? '';
    const key = keyOf({ host, protocol: own.wire });
    const before = series.get(key) ?? unknownSeries(host, own.wire);
    if (host === '' || (!series.has(key) && series.size >= maxDaySeries)) continue;
    const merged = mergedSeries(kept.day, before, own);
    if (merged) series.set(key, merged);
  }
  const sorted = publishedOnce(
    [...series].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
    file,
  );
  const failures = kept.failures.map((failure, place) =>
    sorted.some((one) => one.through[place] !== null) ? null : failure,
  );
  return { ...kept, generated_at: file.generated_at, failures, series: sorted };
}

/**
 * Marks one series of a day as published: the file's published series, or the previously marked one if the file's
 * series has no observation on that day. Clears all other marks, including the mark of a removed host, whose series
 * the file omits.
 */
function publishedOnce(series: readonly DaySeries[], file: WeatherHours): DaySeries[] {
  const current = file.series.find(({ published }) => published);
  const key = current && keyOf({ host: URL.parse(current.endpoint)?.host ?? '', protocol: current.wire });
  const own = series.find((one) => keyOf(one) === key);
  const isObserved = own?.observed_seconds.some((seconds) => seconds > 0) ?? false;
  if (!own || (!isObserved && series.some(({ published }) => published))) return [...series];
  return series.map((one) => ({ ...one, published: one === own }));
}

/** Returns the weather of a day, with `reason` noted for each past hour without data. */
export function noteWeatherFailure(kept: WeatherDay, reason: HoursFailure, now: number): WeatherDay {
  const isKnown = (place: number): boolean => kept.series.some((one) => one.through[place] !== null);
  return { ...kept, failures: notedFailures(kept.day, kept.failures, { reason, isKnown, now }) };
}

function keyOf({ host, protocol }: Pick<DaySeries, 'host' | 'protocol'>): string {
  return `${host} ${protocol}`;
}

function unknownSeries(host: string, protocol: DaySeries['protocol']): DaySeries {
  const [through, observed_since] = [dayList<string | null>(null), dayList<string | null>(null)];
  const series = { host, protocol, published: false, through, observed_since };
  return { ...series, ...unknown(), collections: {}, gaps: [], gap_overflow: false };
}

function unknown(): HourCounts {
  return { events: dayList<number | null>(null), observed_seconds: dayList(0) };
}

function mergedSeries(day: string, before: DaySeries, own: WeatherHourSeries): DaySeries | null {
  const index = replacedPlaces(day, before, own);
  if (index.size === 0) return null;
  const places = [...index.keys()];
  const merged = (counts: HourCounts, news: HourCounts | undefined): HourCounts => ({
    events: replacedEntries(counts.events, places, (place) => news?.events[index.get(place) ?? -1] ?? null),
    observed_seconds: replacedEntries(
      counts.observed_seconds,
      places,
      (place) => news?.observed_seconds[index.get(place) ?? -1] ?? 0,
    ),
  });
  const collections: DaySeries['collections'] = {};
  for (const name of collectionNames) {
    const [known, news] = [before.collections[name], own.collections[name]];
    if (known || news) collections[name] = merged(known ?? unknown(), news);
  }
  const totals = { events: own.hours.map((hour) => hour.events), observed_seconds: own.hours.map(secondsOf) };
  return {
    ...before,
    through: replacedEntries(before.through, places, (place) => {
      const hour = own.hours[index.get(place) ?? -1];
      return hour ? throughOf(hour.start, own.through) : null;
    }),
    observed_since: replacedEntries(before.observed_since, places, (place) => {
      const hour = own.hours[index.get(place) ?? -1];
      return hour ? sinceOf(hour, own) : null;
    }),
    ...merged(before, totals),
    collections,
    gaps: replacedGaps(
      before.gaps,
      own.gaps.map(({ start, end, reason, collection }) => ({ start, end, reason, collection })),
      spansOf(day, places),
    ),
    gap_overflow: before.gap_overflow || own.gap_overflow,
  };
}

type WeatherHour = WeatherHourSeries['hours'][number];

function secondsOf(hour: WeatherHour): number {
  return hour.observed_seconds;
}

/**
 * Returns the hours of the day that the file replaces, as a map from the index within the day to the index within the
 * file.
 */
function replacedPlaces(day: string, before: DaySeries, own: WeatherHourSeries): Map<number, number> {
  const index = new Map<number, number>();
  for (const [at, hour] of own.hours.entries()) {
    const place = placeOf(day, hour.start);
    if (place === null) continue;
    const isKnown = isKnownFrom(own, at) || isSameStore(hour, own, before.observed_since[place] ?? null);
    if (isKnown || hour.observed_seconds >= (before.observed_seconds[place] ?? 0)) index.set(place, at);
  }
  return index;
}

/** Returns true if the instrument's store already existed when an hour of the file began. */
function isKnownFrom({ hours, observed_since }: WeatherHourSeries, at: number): boolean {
  const start = hours[at]?.start ?? '';
  if (observed_since !== undefined) return observed_since !== null && Date.parse(start) >= Date.parse(observed_since);
  // Files of earlier versions omit `observed_since`: their store may have been lost before the first observed hour.
  const first = hours.findIndex(({ observed_seconds }) => observed_seconds > 0);
  return first >= 0 && at > first;
}

function isSameStore(hour: WeatherHour, own: WeatherHourSeries, kept: string | null): boolean {
  const since = sinceOf(hour, own);
  return since !== null && since === kept;
}

/** Returns the first observation of the store if the hour began before that observation; otherwise null. */
function sinceOf({ start }: WeatherHour, { observed_since: since }: WeatherHourSeries): string | null {
  return since && Date.parse(start) < Date.parse(since) ? since : null;
}
