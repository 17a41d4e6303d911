import type { Micros } from '../../src/contract/timestamp.ts';
import { micros } from '../../src/store/time.ts';

/**
 * The machine's clocks, which can be advanced together: hours pass immediately, for the network and for its observer.
 */
export interface MovedClock {
  /** Milliseconds, for the simulated network. */
  readonly sim: () => number;
  readonly wall: () => Micros;
  readonly monotonic: () => number;
  advance(us: number): void;
}

/** Creates clocks that run with the machine's. */
export function movedClock(): MovedClock {
  const started = Date.now() * 1000 - performance.now() * 1000;
  let aheadUs = 0;
  const us = (): number => Math.floor(started + performance.now() * 1000) + aheadUs;
  return {
    sim: () => us() / 1000,
    wall: () => micros(us()),
    monotonic: us,
    advance: (more) => {
      aheadUs += more;
    },
  };
}
