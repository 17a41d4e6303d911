import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { coverage, type Interval, union, without } from '../window/interval.ts';
import type { Minute } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { windowUs } from '../window/window.ts';

/** Count and observed time of one collection. The observed time excludes the silences of the collection. */
export interface CollectionTime {
  readonly total: number;
  readonly observedUs: number;
  readonly observedWindows: number;
}

/** Returns the time before each collection was counted, as spans in which the collection was not observed. */
export function uncountedSpans(countedSince: ReadonlyMap<CollectionName, number>): Silence[] {
  return [...countedSince].map(([collection, to]) => ({ collection, from: 0, to }));
}

/**
 * Returns the counts and observed time of each collection in the minutes, in the order of `collectionNames`. Windows
 * before a collection was first counted are excluded from both.
 */
export function collectionTimes(
  minutes: readonly Minute[],
  observed: readonly Interval[],
  silences: readonly Silence[],
  countedSince: ReadonlyMap<CollectionName, number> = new Map(),
): CollectionTime[] {
  const unobserved = [...uncountedSpans(countedSince), ...silences];
  const whole = Float64Array.from(minutes, ({ observedUs }) => observedUs);
  return collectionNames.map((collection, place) => {
    const own = unobserved.filter((silence) => silence.collection === collection);
    const sinceUs = countedSince.get(collection) ?? 0;
    const startUs = minutes[0]?.startUs ?? 0;
    const watched =
      own.length === 0 ? whole : coverage(without(observed, union(own)), startUs, windowUs, minutes.length);
    return {
      total: minutes.reduce((sum, minute) => sum + (minute.startUs < sinceUs ? 0 : (minute.counts[place] ?? 0)), 0),
      observedUs: watched.reduce((sum, us) => sum + us, 0),
      observedWindows: watched.filter((us) => us > 0).length,
    };
  });
}
