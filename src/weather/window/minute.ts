import { coverage, type Interval } from './interval.ts';
import type { WindowRow } from './stored.ts';
import { lossFlags, windowFlag, windowUs } from './window.ts';

/** A minute of the history is compared with others when at least this much of it was watched. */
const eligibleUs = 59_000_000;
/** Most of a minute's events that may have been left out of its counts for it to be compared. */
const mostUncounted = 0.01;

/** One closed window as it is read, whether or not it was watched. */
export interface Minute {
  readonly startUs: number;
  /** Observed part of the minute, in microseconds. */
  readonly observedUs: number;
  readonly events: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** By the metrics that were asked for; zeros where nothing was counted. */
  readonly counts: readonly number[];
  /** Watched without a break, and nothing in it may be missing. */
  readonly complete: boolean;
  /** True if its counts may be compared with those of other minutes. */
  readonly eligible: boolean;
}

/** Every window from `startUs` on, from the stored rows and the observed spans: a missing row is a minute too. */
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
        observedUs >= eligibleUs &&
        (flags & windowFlag.compacted) === 0 &&
        lateOrRepeat + malformed <= events * mostUncounted,
    };
  });
}
