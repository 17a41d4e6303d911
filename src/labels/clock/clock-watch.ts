import type { Micros } from '../../contract/timestamp.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/** Wall and monotonic clock may part by this much before it counts as a step, in microseconds: 60 s. */
export const maxClockDrift = minute;
/**
 * Maximum difference between upstream time and the wall clock that confirms the wall clock after a step, in
 * microseconds: 60 s.
 */
export const maxUpstreamDifference = minute;
/** Small drift is forgiven once this long has passed, in microseconds: 1 h. */
const anchorPeriod = 60 * minute;

/** The two clocks of this machine, both in microseconds. */
export interface Clocks {
  /** Wall clock, since 1970. */
  readonly wall: () => Micros;
  /** Never set, stands still while the machine is suspended; of no particular origin. */
  readonly monotonic: () => number;
}

/** Watches the wall clock against the monotonic one. */
export interface ClockWatch {
  /** Looks at both clocks. Gives the span between the two readings of time when they have parted since the last look. */
  look(): Interval | null;
  /** True if the clock is in suspectDocument: stepped, or contradicted before any confirmation, and not confirmed since. */
  readonly doubtful: boolean;
  /** True if an upstream confirmed the clock since the start and since the last step. */
  readonly confirmed: boolean;
  /** Records an upstream's time. Ends the doubt if it agrees with the wall clock. */
  onUpstreamTime(upstream: Micros): void;
  /**
   * The same for an upstream that we asked at `requestedAt` of the wall clock. For an
   * unconfirmed clock it also raises doubt.
   */
  onTrustedTime(upstream: Micros, requestedAt: Micros): void;
}

/** Starts watching from now. */
export function watchClock({ wall, monotonic }: Clocks): ClockWatch {
  let anchor = { wall: wall(), monotonic: monotonic() };
  let state: 'unconfirmed' | 'confirmed' | 'doubtful' = 'unconfirmed';
  return {
    look() {
      const now = { wall: wall(), monotonic: monotonic() };
      const expected = micros(Math.round(anchor.wall + now.monotonic - anchor.monotonic));
      const parted = now.wall - expected;
      if (Math.abs(parted) <= maxClockDrift) {
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
