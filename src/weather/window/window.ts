import { collectionNames } from '../../contract/vocabulary.ts';
import { metricNames } from '../classify/metric-names.ts';

/** Width of a window: 60 s on the stream's clock, half open, aligned to the UTC minute. */
export const windowUs = 60_000_000;
export const windowSeconds = 60;
/** A day and its windows. */
export const dayUs = 86_400_000_000;
export const windowsPerDay = 1440;

/** Start of the window that holds the instant; all in microseconds of the stream's clock. */
export function windowStart(timeUs: number): number {
  return timeUs - (timeUs % windowUs);
}

/** Conditions of a window that qualify its counts, as bits of one integer. */
export const windowFlag = {
  /** A connection began in it. */
  seam: 1,
  /** Its events came more than two minutes late: replayed from the host's history. */
  replayed: 2,
  /** They came so late that the host may have compacted its history: no part of the baseline. */
  compacted: 4,
  /** Events came from behind the position, and were not counted. */
  lateOrRepeat: 8,
  /** Replay met live in it: the host may have lost or reordered events. */
  possibleLoss: 16,
  /** Frames came that could not be read. */
  malformed: 32,
  /** The host left numbers out between its events: hidden rows, or loss. */
  leftOut: 64,
} as const;

/** Flags under which a window may lack events that the host sent. */
export const lossFlags = windowFlag.lateOrRepeat | windowFlag.possibleLoss | windowFlag.malformed;

/**
 * Counts that one window gained since the last commit. Integers of a finite alphabet: they cannot contain an identity.
 */
export interface WindowDelta {
  /** Microseconds of the stream's clock. */
  readonly start: number;
  events: number;
  lateOrRepeat: number;
  malformed: number;
  flags: number;
  /** Rows that repeat a repository after a `sync`: no acts, and not among `events`. */
  resync: number;
  /** Numbers that the host left out on a live connection: events that were lost, or numbers that it never used. */
  leftOut: number;
  /** By the places of `metricNames`. */
  readonly counts: Uint32Array;
  /**
   * Time of the first and of the last event of each published collection, by the places of `collectionNames`: microseconds into
   * the window plus one; 0 where it is not known.
   */
  readonly firsts: Uint32Array;
  readonly lasts: Uint32Array;
}

const published: readonly string[] = collectionNames;
/** Place in `collectionNames` of each metric by its place in `metricNames`; -1 for one that is not published. */
const placeOfMetric = Int8Array.from(metricNames, (name) => published.indexOf(name));

/** Counts an event of a metric at an instant, which lies in the window except where the event's own time is unusable. */
export function countMetric({ start, counts, firsts, lasts }: WindowDelta, metric: number, timeUs: number): void {
  counts[metric] = (counts[metric] ?? 0) + 1;
  const place = placeOfMetric[metric] ?? -1;
  if (place < 0) return;
  const at = Math.min(Math.max(timeUs - start, 0), windowUs - 1) + 1;
  const first = firsts[place] ?? 0;
  if (first === 0 || at < first) firsts[place] = at;
  if (at > (lasts[place] ?? 0)) lasts[place] = at;
}

/** A delta that adds nothing. */
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
