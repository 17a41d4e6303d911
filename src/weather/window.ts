import { metricNames } from './metric-names.ts';

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
  };
}
