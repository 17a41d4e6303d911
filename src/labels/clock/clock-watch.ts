import type { Micros } from '../../contract/timestamp.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/**
 * Maximum difference between the progress of the wall clock and of the monotonic clock, in microseconds; a larger
 * difference is a clock step.
 */
export const maxClockDrift = minute;
/**
 * Maximum difference between upstream time and the wall clock that confirms the wall clock after a step, in
 * microseconds.
 */
export const maxUpstreamDifference = minute;
/** Time after which accumulated smaller drift is discarded, in microseconds. */
const anchorPeriod = 60 * minute;

/** The two clocks of this machine, both in microseconds. */
export interface Clocks {
  /** Returns the time of the wall clock, since 1970. */
  readonly wall: () => Micros;
  /**
   * Returns the time of the monotonic clock, which has an arbitrary origin and stops while the machine is suspended.
   */
  readonly monotonic: () => number;
}

/** Detects steps of the wall clock by comparison with the monotonic clock. */
export interface ClockWatch {
  /**
   * Compares the clocks. Returns the interval that the wall clock skipped or repeated since the last call, or null if
   * it did neither.
   */
  look(): Interval | null;
  /**
   * True if the clock is not trusted: it stepped, or an upstream contradicted it before any confirmation, and no
   * upstream has confirmed it since.
   */
  readonly doubtful: boolean;
  /** True if an upstream confirmed the clock since the start and since the last step. */
  readonly confirmed: boolean;
  /** Records an upstream's time. Clears `doubtful` if that time agrees with the wall clock. */
  onUpstreamTime(upstream: Micros): void;
  /**
   * Records the time in an upstream's response. `requestedAt` is the wall clock at the request. While the clock is
   * unconfirmed, a contradiction sets `doubtful`.
   */
  onTrustedTime(upstream: Micros, requestedAt: Micros): void;
}

/** Creates a watch that compares the clocks from the time of this call. */
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
