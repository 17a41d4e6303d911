import { coverage, type Interval } from './interval.ts';
import type { WindowRow } from './store-schema.ts';
import { lossFlags, windowFlag, windowUs } from './window.ts';

/** Minimum observed time of a minute that may be compared with others, in microseconds. */
export const eligibleUs = 59_000_000;

/** Maximum share of uncounted events in a minute that may be compared with others. */
export const maxUncounted = 0.01;

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
        observedUs >= eligibleUs &&
        (flags & windowFlag.compacted) === 0 &&
        lateOrRepeat + malformed <= events * maxUncounted,
    };
  });
}
