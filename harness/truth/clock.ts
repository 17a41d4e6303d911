import { availableParallelism, loadavg } from 'node:os';
import type { Micros } from '../../src/contract/timestamp.ts';
import { micros } from '../../src/store/time.ts';

/** Clocks that can be advanced together, so that hours pass immediately for the network and for the instrument. */
export interface MovedClock {
  /** Returns the time of the simulated network, in milliseconds. */
  readonly sim: () => number;
  readonly wall: () => Micros;
  readonly monotonic: () => number;
  advance(us: number): void;
}

/** Hour of the UTC day at which the clocks start, so that no part of a proof crosses midnight by chance. */
const startHour = 10;

/** Creates clocks that run at the machine's speed, from ten o'clock of the present UTC day on. */
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
 * Returns by how much other processes slow this one down. Timeouts are of real time: on a machine with ten processes for
 * each processor, labelers in this process responded after more than two seconds, and counted as unreachable.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}
