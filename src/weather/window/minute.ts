import type { CollectionName } from '../../contract/vocabulary.ts';
import type { Silence } from './silence-store.ts';
import type { WindowRow } from './store-schema.ts';
import { coverage, dayUs, type Interval, union, windowFlag, windowUs } from './window.ts';
import { keptDays, type WindowStore } from './window-store.ts';

/** Flags of windows that may lack events that the host sent. */
const lossFlags = windowFlag.lateOrRepeat | windowFlag.possibleLoss | windowFlag.malformed;

/** Minimum of observed time by which a minute or an earlier day is compared. */
export const minuteRule = {
  /** Minimum observed time of a minute that may be compared with others, in microseconds. */
  eligibleUs: 59_000_000,
  /** Maximum share of uncounted events in a minute that may be compared with others. */
  maxUncounted: 0.01,
  /** Minimum number of days of history for a comparison. */
  minDays: 7,
  /** Minimum number of comparable minutes that a day needs in an hour to be included. */
  minMinutes: 10,
};

/** One closed window of the history, observed or not. */
export interface Minute {
  readonly startUs: number;
  /** Observed part of the minute, in microseconds. */
  readonly observedUs: number;
  readonly events: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** Counts of the requested metrics, in their order. They are zero if no event was counted. */
  readonly counts: readonly number[];
  /** True if the minute was observed without a break and lacks no event. */
  readonly complete: boolean;
  /** True if the counts of the minute may be compared with the counts of other minutes. */
  readonly eligible: boolean;
}

/**
 * Returns every window from `startUs` onwards, including windows without a row, computed from the stored rows and the
 * observed spans.
 */
export function minutes(
  rows: readonly WindowRow[],
  observed: readonly Interval[],
  startUs: number,
  windows: number,
  metrics: number,
): Minute[] {
  const watched = coverage(observed, startUs, windowUs, windows);
  const byStart = new Map(rows.map((row) => [row.startUs, row]));
  const none = Array<number>(metrics).fill(0);
  return Array.from(watched, (observedUs, i) => {
    const at = startUs + i * windowUs;
    const row = byStart.get(at);
    const {
      events = 0,
      flags = 0,
      resync = 0,
      leftOut = 0,
      lateOrRepeat = 0,
      malformed = 0,
      counts = none,
    } = row ?? {};
    return {
      startUs: at,
      observedUs,
      events,
      flags,
      resync,
      leftOut,
      counts,
      complete: observedUs === windowUs && (flags & lossFlags) === 0,
      eligible:
        observedUs >= minuteRule.eligibleUs &&
        (flags & windowFlag.compacted) === 0 &&
        lateOrRepeat + malformed <= events * minuteRule.maxUncounted,
    };
  });
}

const windowsPerHour = 60;

/** Length of an hour, in microseconds. */
export const hourUs = windowsPerHour * windowUs;

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
    return minutes(rows, near, from, windowsPerHour, collections.length);
  });
}

/** Returns true if a window overlaps one of the silences. */
export function isWithin({ startUs }: Pick<Minute, 'startUs'>, silences: readonly Silence[]): boolean {
  return silences.some(({ from, to }) => startUs < to && startUs + windowUs > from);
}

/** Returns the `p` quantile (0 to 1) of sorted values, linearly interpolated. Returns NaN if there are no values. */
export function percentile(sorted: Float64Array, p: number): number {
  const at = p * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the standard deviation divided by the mean, a measure of unevenness, or null if the mean is 0. */
export function variation(values: readonly number[]): number | null {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return null;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) / mean;
}
