import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { earlierDays, hourUs, isWithin, type Minute, minuteRule, percentile, spanBefore } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { dayUs, windowsPerDay } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { type CollectionTime, silenceRule, type Usual, type UsualCounts, uncountedSpans } from './silence.ts';

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
      .filter((day) => day.length >= minuteRule.minMinutes);
    if (perDay.length < minuteRule.minDays) return [null, null] as const;
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
  if (days.length < minuteRule.minDays) return null;
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

/** Collections that count as interactions. Their rate determines the conditions. */
export const interactions: readonly CollectionName[] = [
  'post.create.reply',
  'post.create.quote',
  'repost.create',
  'like.create',
];

/** Maximum share of the interactions that silent collections may have while conditions are still published. */
export const bearable = 0.05;

/** Each collection's share of the interactions, from 0 to 1. */
export interface Shares {
  of(collection: CollectionName): number;
  /** Returns true if the conditions cannot be determined without the silent collection. */
  readonly matters: (silence: Silence) => boolean;
}

/**
 * Computes the shares from each collection's rate during its observed time. If a collection counts as interactions
 * but was never observed, its share is 1. If a collection does not count as interactions, its share is 0.
 */
export function interactionShares(times: readonly CollectionTime[]): Shares {
  const rateOf = (collection: CollectionName): number => {
    const time = times[collectionNames.indexOf(collection)];
    return time && time.observedUs > 0 ? time.total / time.observedUs : Number.NaN;
  };
  const all = interactions.map(rateOf).reduce((sum, rate) => sum + (Number.isNaN(rate) ? 0 : rate), 0);
  const of = (collection: CollectionName): number => {
    if (!interactions.includes(collection)) return 0;
    const rate = rateOf(collection);
    if (Number.isNaN(rate)) return 1;
    return all > 0 ? rate / all : 0;
  };
  return { of, matters: ({ collection }) => of(collection) > bearable };
}

/** Determines which part of the interactions is missing because collections are silent. */
interface SilentShares {
  /**
   * Returns true if more than 5 % of the interactions may be missing from the minute, because collections are silent or
   * frequent collections have no event.
   */
  isSilent(minute: Minute): boolean;
  /**
   * Returns the time from which the silences that last until `endUs` together make up more than 5 % of the
   * interactions, or null if they do not.
   */
  since(endUs: number): number | null;
}

/** Input for determining the silent part of the interactions. */
interface SilentInput {
  readonly silences: readonly Silence[];
  readonly shares: Shares;
  readonly usual: Usual;
}

/** Creates the functions that determine the silent part of the interactions. */
export function silentShares({ silences, shares, usual }: SilentInput): SilentShares {
  const inMinute = (collection: CollectionName, minute: Minute): boolean => {
    const own = silences.filter((silence) => silence.collection === collection);
    if (isWithin(minute, own)) return true;
    const { startUs, counts } = minute;
    // The silence is not proven yet, but events may already be missing from the minute.
    const place = collectionNames.indexOf(collection);
    return (counts[place] ?? 0) === 0 && (usual.hour(startUs).p05[place] ?? 0) >= silenceRule.frequentRate;
  };
  return {
    isSilent: (minute) => {
      const missing = interactions.filter((collection) => inMinute(collection, minute));
      return missing.reduce((sum, collection) => sum + shares.of(collection), 0) > bearable;
    },
    since: (endUs) => {
      let missing = 0;
      for (const { collection, from } of silences.filter(({ to }) => to >= endUs).sort((a, b) => a.from - b.from)) {
        missing += shares.of(collection);
        if (missing > bearable) return from;
      }
      return null;
    },
  };
}
