import type { Micros } from '../../../contract/timestamp.ts';
import type { Acceptance } from './acceptance.ts';

/** Interval of the marks that tell a standby how far it has come, in milliseconds. */
const everyMs = 1_000;

/** Repeated marks. */
export interface Marks {
  /** Starts no further mark. */
  stop(): void;
}

/**
 * Stores a mark every second, so that a standby soon knows that it has everything before a recent instant, also if no
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
