import type { Micros } from '../../../contract/timestamp.ts';
import type { Acceptance } from './acceptance.ts';

/** Interval between marks, in milliseconds. A standby derives from the marks how current its data is. */
const everyMs = 1_000;

/** Handle of the periodic marks. */
export interface Marks {
  /** Stops the timer; a mark in progress completes. */
  stop(): void;
}

/**
 * Stores a mark every second. A standby of the database that has received a mark has also received every row with an
 * earlier stamp, so that its progress is known even if no labels arrive.
 */
export function startMarks(acceptance: Pick<Acceptance, 'mark'>, clock: () => Micros): Marks {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    // Ignore the error: the next batch reports the same failure to the instrument.
    void acceptance
      .mark(clock())
      .catch(() => undefined)
      .finally(() => {
        isRunning = false;
      });
  }, everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
