import type { Micros } from '../../contract/timestamp.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/** Maximum difference between the progress of the wall clock and the monotonic clock; more is a step. In microseconds: 60 s. */
export const maxClockDrift = minute;
/**
 * Maximum difference between upstream time and the wall clock that confirms the wall clock after a step, in
 * microseconds: 60 s.
 */
export const maxUpstreamDifference = minute;
/** Time after which smaller drift is forgotten, in microseconds: 1 h. */
const anchorPeriod = 60 * minute;

/** The two clocks of this machine, both in microseconds. */
export interface Clocks {
  /** Wall clock, since 1970. */
  readonly wall: () => Micros;
  /** Monotonic clock with an arbitrary origin; stops while the machine is suspended. */
  readonly monotonic: () => number;
}

/** Detects steps of the wall clock by the monotonic clock. */
export interface ClockWatch {
  /** Compares the clocks. Returns the interval that the wall clock skipped or repeated since the last call, or null. */
  look(): Interval | null;
  /** True if the clock is in doubt: stepped, or contradicted before any confirmation, and not confirmed since. */
  readonly doubtful: boolean;
  /** True if an upstream confirmed the clock since the start and since the last step. */
  readonly confirmed: boolean;
  /** Records an upstream's time. Ends the doubt if it agrees with the wall clock. */
  onUpstreamTime(upstream: Micros): void;
  /**
   * Records the time of an upstream that we asked at `requestedAt` of the wall clock. For an unconfirmed clock, a
   * contradiction also raises doubt.
   */
  onTrustedTime(upstream: Micros, requestedAt: Micros): void;
}

/** Starts comparing the clocks from now on. */
export function watchClock({ wall, monotonic }: Clocks): ClockWatch {
  let anchor = { wall: wall(), monotonic: monotonic() };
  let state: 'unconfirmed' | 'confirmed' | 'doubtful' = 'unconfirmed';
  return {
    look() {
      const now = { wall: wall(), monotonic: monotonic() };
      const expected = micros(Math.round(anchor.wall + now.monotonic - anchor.monotonic));
      const difference = now.wall - expected;
      if (Math.abs(difference) <= maxClockDrift) {
        if (now.monotonic - anchor.monotonic > anchorPeriod) anchor = now;
        return null;
      }
      anchor = now;
      state = 'doubtful';
      return { start: micros(Math.min(expected, now.wall)), end: micros(Math.max(expected, now.wall)) };
    },
    get doubtful() {
      return state === 'doubtful';
    },
    get confirmed() {
      return state === 'confirmed';
    },
    onUpstreamTime(upstream) {
      if (Math.abs(upstream - wall()) <= maxUpstreamDifference) state = 'confirmed';
    },
    onTrustedTime(upstream, requestedAt) {
      const agrees = upstream >= requestedAt - maxUpstreamDifference && upstream <= wall() + maxUpstreamDifference;
      if (agrees) state = 'confirmed';
      else if (state === 'unconfirmed') state = 'doubtful';
    },
  };
}
