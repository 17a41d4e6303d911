/** Clock of the simulated network: milliseconds since 1970, possibly fractional. A clock must never run backwards. */
export type Clock = () => number;

/** A clock that advances only when a test advances it. */
export interface ManualClock {
  readonly now: Clock;
  /** Advances the clock by a number of milliseconds. Throws a RangeError if the number is negative. */
  advance(milliseconds: number): void;
}

/** Creates a clock that stays at `startMs` until it is advanced. */
export function manualClock(startMs: number): ManualClock {
  let current = startMs;
  return {
    now: () => current,
    advance: (milliseconds) => {
      if (milliseconds < 0) throw new RangeError('the clock must not run backwards');
      current += milliseconds;
    },
  };
}

/** Creates a clock that is at `startMs` now and runs `speed` times as fast as `base`. */
export function scaledClock(startMs: number, speed: number, base: Clock = Date.now): Clock {
  const origin = base();
  return () => startMs + (base() - origin) * speed;
}
