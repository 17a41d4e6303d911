import { collectionNames } from '../../contract/vocabulary.ts';
import { coverage, type Interval, without } from '../window/interval.ts';
import type { Minute } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { windowUs } from '../window/window.ts';

/** Count and observed time of one collection; its silences are excluded from the observed time. */
export interface CollectionTime {
  readonly total: number;
  readonly observedUs: number;
  readonly observedWindows: number;
}

/** Returns the counts and observed time of each collection in the minutes, in the order of `collectionNames`. */
export function collectionTimes(
  minutes: readonly Minute[],
  observed: readonly Interval[],
  silences: readonly Silence[],
): CollectionTime[] {
  const whole = Float64Array.from(minutes, ({ observedUs }) => observedUs);
  return collectionNames.map((collection, place) => {
    const own = silences.filter((silence) => silence.collection === collection);
    const startUs = minutes[0]?.startUs ?? 0;
    const watched = own.length === 0 ? whole : coverage(without(observed, own), startUs, windowUs, minutes.length);
    return {
      total: minutes.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0),
      observedUs: watched.reduce((sum, us) => sum + us, 0),
      observedWindows: watched.filter((us) => us > 0).length,
    };
  });
}
