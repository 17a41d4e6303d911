/** The simulated network's clock: milliseconds since 1970, fractions allowed. The clock must never run backwards. */
export type Clock = () => number;

/** A clock that a test advances. */
export interface ManualClock {
  readonly now: Clock;
  /** Advances the clock by this many milliseconds. */
  advance(milliseconds: number): void;
}

/** Creates a clock that shows `startMs` until it is advanced. */
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

/** Creates a clock that shows `startMs` now and runs `speed` times as fast as `base`. */
export function scaledClock(startMs: number, speed: number, base: Clock = Date.now): Clock {
  const origin = base();
  return () => startMs + (base() - origin) * speed;
}
