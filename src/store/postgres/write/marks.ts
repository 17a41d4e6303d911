import type { Micros } from '../../../contract/timestamp.ts';
import type { Acceptance } from './acceptance.ts';

/** Interval between marks, in milliseconds; from a mark a standby derives its replication progress. */
const everyMs = 1_000;

/** Repeated marks. */
export interface Marks {
  /** Starts no further mark. */
  stop(): void;
}

/**
 * Stores a mark every second, so that a standby soon knows that it has everything before a recent instant, even if no
 * label arrives.
 */
export function startMarks(acceptance: Pick<Acceptance, 'mark'>, clock: () => Micros): Marks {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    // A batch reports the same failure to the instrument.
    void acceptance
      .mark(clock())
      .catch(() => undefined)
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
