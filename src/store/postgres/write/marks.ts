import type { Micros } from '../../../contract/timestamp.ts';
import type { Acceptance } from './acceptance.ts';

/** Interval of the heartbeats that tell a standby how far it has come, in milliseconds. */
const everyMs = 1_000;

/** Running heartbeats. */
export interface Marks {
  /** Starts no further heartbeat. */
  stop(): void;
}

/**
 * Stores a heartbeat every second, so that a standby soon knows that it has everything before a recent instant, also if
 * no label arrives.
 */
export function startMarks(acceptance: Pick<Acceptance, 'beat'>, clock: () => Micros): Marks {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    // A batch reports the same failure to the instrument.
    void acceptance
      .beat(clock())
      .catch(() => undefined)
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
