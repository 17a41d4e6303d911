import { collectionNames } from '../../contract/vocabulary.ts';
import { earlierDays, hourUs, isWithin, minDays, minMinutes, spanBefore } from '../window/earlier-days.ts';
import type { Minute } from '../window/minute.ts';
import { percentile } from '../window/percentile.ts';
import type { Silence } from '../window/silence-store.ts';
import { dayUs, windowsPerDay } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { uncountedSpans } from './collection-time.ts';
import type { Usual, UsualCounts } from './silence.ts';

/** Minimum number of windows with events that a day needs to be included when pauses are measured. */
const minWindows = windowsPerDay / 2;

/**
 * Computes the usual counts in an hour from the same hour of earlier days. Excludes minutes within a collection's
 * silence.
 */
export function usualCounts(days: readonly (readonly Minute[])[], silences: readonly Silence[]): UsualCounts {
  const both = collectionNames.map((collection, place) => {
    const silent = silences.filter((silence) => silence.collection === collection);
    const perDay = days
      .map((day) => day.filter((minute) => minute.eligible && !isWithin(minute, silent)))
      .filter((day) => day.length >= minMinutes);
    if (perDay.length < minDays) return [null, null] as const;
    const counts = Float64Array.from(perDay.flat(), (minute) => minute.counts[place] ?? 0).sort();
    return [percentile(counts, 0.05), percentile(counts, 0.5)] as const;
  });
  return { p05: both.map(([p05]) => p05), p50: both.map(([, p50]) => p50) };
}

/**
 * Returns the longest pause of a collection, counted in windows with events of any kind, or null if there are fewer
 * than 7 days.
 */
export function usualPause(
  counts: readonly { readonly startUs: number; readonly count: number }[],
  silences: readonly Silence[],
): number | null {
  const longest = new Map<number, { windows: number; pause: number }>();
  let pause = 0;
  for (const { startUs, count } of counts) {
    if (isWithin({ startUs }, silences)) continue;
    pause = count === 0 ? pause + 1 : 0;
    const day = Math.floor(startUs / dayUs);
    const known = longest.get(day) ?? { windows: 0, pause: 0 };
    longest.set(day, { windows: known.windows + 1, pause: Math.max(known.pause, pause) });
  }
  const days = [...longest.values()].filter(({ windows }) => windows >= minWindows);
  if (days.length < minDays) return null;
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
