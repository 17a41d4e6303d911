/** The simulated network's clock: milliseconds since 1970, fractions allowed. Must never run backwards. */
export type Clock = () => number;

/** A clock that a test moves by hand. */
export interface ManualClock {
  readonly now: Clock;
  /** Moves the clock forward by that many milliseconds. */
  advance(milliseconds: number): void;
}

/** A clock that stands at `startMs` until it is moved. */
export function manualClock(startMs: number): ManualClock {
  let current = startMs;
  return {
    now: () => current,
    advance: (milliseconds) => {
      if (milliseconds < 0) throw new RangeError('a clock never runs backwards');
      current += milliseconds;
    },
  };
}

/** A clock that shows `startMs` now and runs `speed` times as fast as `base` from here on. */
export function scaledClock(startMs: number, speed: number, base: Clock = Date.now): Clock {
  const origin = base();
  return () => startMs + (base() - origin) * speed;
}
