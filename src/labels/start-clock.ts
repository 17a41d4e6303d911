import type { Log } from '../ops/log.ts';
import type { Clocks } from './clock-watch.ts';
import type { Obstacles } from './obstacles.ts';
import type { Telemetry } from './telemetry.ts';
import { wait } from './wait.ts';

/** What the look at the clock before a start takes. */
export interface StartClockOptions {
  readonly clocks: Clocks;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, 'paused'>;
  /** How long to wait where nobody tells the time, in milliseconds. */
  readonly waitMs: number;
}

/** Between two looks at whether somebody told the time, in milliseconds. */
const lookMs = 20;

/**
 * Waits until somebody confirms the clock, so that nothing is written by one that is wrong; not for long where nobody
 * tells the time, but for as long as one says another.
 */
export async function clockAtStart(
  obstacles: Obstacles,
  { clocks, log, telemetry, waitMs }: StartClockOptions,
  signal: AbortSignal,
): Promise<void> {
  const begun = clocks.monotonic();
  let told = false;
  for (;;) {
    obstacles.look();
    const right = obstacles.clockRight;
    const waited = (clocks.monotonic() - begun) / 1000;
    if (signal.aborted || right === true || (right === null && waited >= waitMs)) break;
    if (right === false && !told) {
      log.warn('the clock is wrong, or nobody confirms it: nothing is observed until it is set');
      telemetry.paused('clock_doubtful');
      told = true;
    }
    await wait(lookMs, signal);
  }
  if (told) telemetry.paused(null);
}
