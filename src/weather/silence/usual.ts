import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import type { Silence } from '../window/store-schema.ts';
import {
  dayUs,
  hourUs,
  type Interval,
  isWithin,
  type Minute,
  minuteRule,
  minutes,
  percentile,
  union,
  windowsPerDay,
  windowUs,
} from '../window/window.ts';
import { keptDays, type WindowStore } from '../window/window-store.ts';

/** Usual counts per minute of every collection, in the order of `collectionNames`, or null if there is no baseline. */
export interface UsualCounts {
  readonly p05: readonly (number | null)[];
  readonly p50: readonly (number | null)[];
}

/** Usual counts and pauses, computed from earlier days. */
export interface Usual {
  /** Returns the usual counts per minute in the UTC hour of the window. */
  hour(startUs: number): UsualCounts;
  /** Returns the longest pause of the collection on earlier days, in windows, or null if there is no baseline. */
  pause(place: number, startUs: number): number | null;
}

/** Returns the time before each collection was counted, as spans in which the collection was not observed. */
export function uncountedSpans(countedSince: ReadonlyMap<CollectionName, number>): Silence[] {
  return [...countedSince].map(([collection, to]) => ({ collection, from: 0, to }));
}

/** Minimum number of windows with events that a day needs to be included when pauses are measured. */
const minDayWithEvents = windowsPerDay / 2;

/**
 * Computes the usual counts in an hour from the same hour of earlier days. Excludes minutes within a collection's
 * silence.
 */
export function usualCounts(days: readonly (readonly Minute[])[], silences: readonly Silence[]): UsualCounts {
  const both = collectionNames.map((collection, place) => {
    const silent = silences.filter((silence) => silence.collection === collection);
    const perDay = days
      .map((day) => day.filter((minute) => minute.eligible && !isWithin(minute, silent)))
      .filter((day) => day.length >= minuteRule.minMinutes);
    if (perDay.length < minuteRule.minDays) return [null, null] as const;
    const counts = Float64Array.from(perDay.flat(), (minute) => minute.counts[place] ?? 0).sort();
    return [percentile(counts, 0.05), percentile(counts, 0.5)] as const;
  });
  return { p05: both.map(([p05]) => p05), p50: both.map(([, p50]) => p50) };
}

/**
 * Returns the longest pause of a collection, counted in windows with events of any kind, or null if the collection has
 * events on fewer than 7 days. A pause that has not ended is excluded, because it must be compared with earlier pauses
 * even if it began before the day.
 */
export function usualPause(
  counts: readonly { readonly startUs: number; readonly count: number }[],
  silences: readonly Silence[],
): number | null {
  const longest = new Map<number, { windows: number; pause: number; hasEvents: boolean }>();
  const lastEvent = counts.findLastIndex(({ count }) => count > 0);
  let pause = 0;
  for (const [i, { startUs, count }] of counts.entries()) {
    if (isWithin({ startUs }, silences)) continue;
    pause = count === 0 && i < lastEvent ? pause + 1 : 0;
    const day = Math.floor(startUs / dayUs);
    const known = longest.get(day) ?? { windows: 0, pause: 0, hasEvents: false };
    longest.set(day, {
      windows: known.windows + 1,
      pause: Math.max(known.pause, pause),
      hasEvents: known.hasEvents || count > 0,
    });
  }
  const days = [...longest.values()].filter(({ windows }) => windows >= minDayWithEvents);
  if (days.filter(({ hasEvents }) => hasEvents).length < minuteRule.minDays) return null;
  return Math.max(...days.map((day) => day.pause));
}

/**
 * Creates a reader of a series' usual counts and pauses. The reader reads each hour and each collection once and
 * remembers the result; to read them again, create another reader.
 */
export function storedUsual(store: WindowStore, series: number): Usual {
  const uncounted = uncountedSpans(store.countedSince(series));
  const hours = new Map<number, UsualCounts>();
  const pauses = new Map<string, number | null>();
  return {
    hour: (startUs) => {
      const hour = startUs - (startUs % hourUs);
      const known = hours.get(hour);
      if (known) return known;
      const days = earlierDays(store, series, hour, collectionNames);
      const silences = [...uncounted, ...store.silences(series, spanBefore(hour))];
      const counts = usualCounts(days, silences);
      hours.set(hour, counts);
      return counts;
    },
    pause: (place, startUs) => {
      const day = startUs - (startUs % dayUs);
      const key = `${place} ${day}`;
      const known = pauses.get(key);
      if (known !== undefined) return known;
      const collection = collectionNames[place];
      if (collection === undefined) return null;
      const span = spanBefore(day);
      const silences = [...uncounted, ...store.silences(series, span)].filter(
        (silence) => silence.collection === collection,
      );
      const pause = usualPause(store.countsOf(series, span, collection), silences);
      pauses.set(key, pause);
      return pause;
    },
  };
}

/** Returns the span of stored days before an hour, in microseconds. */
export function spanBefore(hour: number): Interval {
  return { from: hour - keptDays * dayUs, to: hour };
}

/**
 * Reads the minutes of the same hour on each stored day before `hour`, oldest day first. The list of a day that was not
 * observed is empty.
 */
export function earlierDays(
  store: WindowStore,
  series: number,
  hour: number,
  collections: readonly CollectionName[],
): Minute[][] {
  return Array.from({ length: keptDays }, (_, day) => {
    const from = spanBefore(hour).from + day * dayUs;
    const near = union(store.observed(series, { from, to: from + hourUs }));
    if (near.length === 0) return [];
    const rows = store.windows(series, { from, to: from + hourUs }, collections);
    return minutes(rows, near, from, hourUs / windowUs, collections.length);
  });
}
