import { availableParallelism, loadavg } from 'node:os';
import type { Micros } from '../../src/contract/timestamp.ts';
import { micros } from '../../src/store/time.ts';

/** Clocks that can be advanced together, so that a test can skip hours for the network and the instrument. */
export interface MovedClock {
  /** Returns the time of the simulated network, in milliseconds. */
  readonly sim: () => number;
  readonly wall: () => Micros;
  readonly monotonic: () => number;
  advance(us: number): void;
}

/** Hour of the UTC day at which the clocks start. It keeps a proof from crossing midnight by chance. */
const startHour = 10;

/** Creates clocks that run at real speed, starting at ten o'clock of the current UTC day. */
export function movedClock(): MovedClock {
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000_000;
  const started = midnight + startHour * 3_600_000_000 - performance.now() * 1000;
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

/**
 * Returns an estimate of the factor by which other processes slow this process down; at least 1. Timeouts use real
 * time: on a machine with ten processes per processor, labelers in this process took more than two seconds to respond
 * and counted as unreachable.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}
