import type { Log } from '../../ops/log.ts';
import type { Clocks } from '../clock/clock-watch.ts';
import { wait } from '../clock/wait.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { Preconditions } from './preconditions.ts';

/** Dependencies for checking the clock at startup. */
interface StartClockOptions {
  readonly clocks: Clocks;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, 'paused'>;
  /** Maximum time in milliseconds to wait for an upstream's time. */
  readonly waitMs: number;
}

/** Interval between checks for an upstream's time, in milliseconds. */
const lookMs = 20;

/**
 * Waits until an upstream confirms the clock, so that no row receives a wrong time. Waits at most `waitMs` if no
 * upstream responds. Waits without a limit while an upstream contradicts the clock. Ends at once if the signal aborts.
 */
export async function clockAtStart(
  preconditions: Pick<Preconditions, 'look' | 'clockRight'>,
  { clocks, log, telemetry, waitMs }: StartClockOptions,
  signal: AbortSignal,
): Promise<void> {
  const begun = clocks.monotonic();
  let hasWarned = false;
  for (;;) {
    preconditions.look();
    const right = preconditions.clockRight;
    const waited = (clocks.monotonic() - begun) / 1000;
    if (signal.aborted || right === true || (right === null && waited >= waitMs)) break;
    if (right === false && !hasWarned) {
      log.warn(
        'the local clock differs from the clock of an upstream: observation begins when they agree; check the clock',
      );
      telemetry.paused('clock_doubtful');
      hasWarned = true;
    }
    await wait(lookMs, signal);
  }
  if (hasWarned) telemetry.paused(null);
}
