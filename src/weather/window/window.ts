import { collectionNames } from '../../contract/vocabulary.ts';
import { metricNames } from '../classify/metric-names.ts';

/** Width of a window: 60 s on the stream's clock, half open, aligned to the UTC minute. */
export const windowUs = 60_000_000;
/** Width of a window, in seconds. */
export const windowSeconds = 60;
/** Length of a day, in microseconds. */
export const dayUs = 86_400_000_000;
export const windowsPerDay = 1440;

/** Returns the start of the window that contains `timeUs`. Both are in microseconds of the stream's clock. */
export function windowStart(timeUs: number): number {
  return timeUs - (timeUs % windowUs);
}

/** Flags that qualify a window's counts, as bits of one integer. */
export const windowFlag = {
  /** A connection began in the window. */
  seam: 1,
  /** Events of the window came more than two minutes late, because the host replayed them from its history. */
  replayed: 2,
  /**
   * Events of the window came so late that the host may have compacted its history, or a replay lacked numbers. The
   * window is excluded from the baseline.
   */
  compacted: 4,
  /** Events before the position arrived while the window was current. They were not counted. */
  lateOrRepeat: 8,
  /** A replay reached the present in the window: the host may have lost or reordered events. */
  possibleLoss: 16,
  /** Unreadable frames arrived in the window. */
  malformed: 32,
  /** The host omitted numbers between events of the window, because of hidden rows or loss. */
  leftOut: 64,
} as const;

/** Flags of windows that may lack events that the host sent. */
export const lossFlags = windowFlag.lateOrRepeat | windowFlag.possibleLoss | windowFlag.malformed;

/**
 * Counts of one window since the last commit. All values are numbers of a closed set of metrics, so they cannot contain
 * an identity.
 */
export interface WindowDelta {
  /** Start of the window, in microseconds of the stream's clock. */
  readonly start: number;
  events: number;
  lateOrRepeat: number;
  malformed: number;
  flags: number;
  /**
   * Number of rows that repeat a repository after a `sync`. They are not actions of an account, and `events` does not
   * include them.
   */
  resync: number;
  /**
   * Number of event numbers that the host omitted on a live connection, because events were lost or numbers were never
   * used.
   */
  leftOut: number;
  /** Counts in the order of `metricNames`. */
  readonly counts: Uint32Array;
  /**
   * Time of the first event of each published collection, in the order of `collectionNames`: one more than the number
   * of microseconds since the start of the window, or 0 if unknown.
   */
  readonly firsts: Uint32Array;
  /** Time of the last event of each published collection, in the same form as `firsts`. */
  readonly lasts: Uint32Array;
}

const published: readonly string[] = collectionNames;
/**
 * Index in `collectionNames` of each metric, in the order of `metricNames`, or -1 for a metric that is not published.
 */
const placeOfMetric = Int8Array.from(metricNames, (name) => published.indexOf(name));

/** Counts an event of a metric at `timeUs`, which lies in the window unless the event's own time is unusable. */
export function countMetric({ start, counts, firsts, lasts }: WindowDelta, metric: number, timeUs: number): void {
  counts[metric] = (counts[metric] ?? 0) + 1;
  const place = placeOfMetric[metric] ?? -1;
  if (place < 0) return;
  const at = Math.min(Math.max(timeUs - start, 0), windowUs - 1) + 1;
  const first = firsts[place] ?? 0;
  if (first === 0 || at < first) firsts[place] = at;
  if (at > (lasts[place] ?? 0)) lasts[place] = at;
}

/** Creates the counts of a window, all zero. */
export function emptyDelta(start: number): WindowDelta {
  return {
    start,
    events: 0,
    lateOrRepeat: 0,
    malformed: 0,
    flags: 0,
    resync: 0,
    leftOut: 0,
    counts: new Uint32Array(metricNames.length),
    firsts: new Uint32Array(collectionNames.length),
    lasts: new Uint32Array(collectionNames.length),
  };
}
