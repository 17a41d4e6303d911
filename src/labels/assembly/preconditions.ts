import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { hour, micros } from '../../store/time.ts';
import { type Clocks, wait, watchClock } from '../clock/clock.ts';
import type { PreconditionCheck } from '../ingest/ports.ts';
import { type DiskBudget, type DiskLimits, readDisk } from '../shares/disk-budget.ts';
import type { Telemetry } from '../shares/telemetry.ts';

/** Conditions outside the store for accepting pages: a clock that is not doubtful, and enough disk space. */
export interface Preconditions {
  /**
   * Checks the clocks. Must be called at startup, before each commit and with each heartbeat. Returns the clock step,
   * if any, and the reason to pause acceptance, if any: a doubtful clock, or too little free space at the last
   * `checkDisk`.
   */
  look(): PreconditionCheck;
  /**
   * Number that changes when the clock is set or confirmed; labels that were judged before the change must be judged
   * again.
   */
  readonly clockGeneration: number;
  /** Records the time that an upstream reports, in milliseconds. */
  onUpstreamTime(milliseconds: number): void;
  /**
   * Records the time in an upstream's response. `askedAt` is the wall-clock time of the request; see
   * `ClockWatch.onTrustedTime`.
   */
  onTrustedTime(milliseconds: number, askedAt: Micros): void;
  /** True if data may be removed by age: the clock is confirmed, and was not set within the last hour. */
  readonly ageKnown: boolean;
  /**
   * True if an upstream confirmed the clock. False if the clock stepped, or an upstream contradicted the unconfirmed
   * clock, without a confirmation since then. Null before any of these events.
   */
  readonly clockRight: boolean | null;
  /** Disk budget at the last check of the free space. */
  readonly disk: DiskBudget;
  /** Checks the free space and updates the disk budget. */
  checkDisk(): Promise<void>;
}

/** Monitors a store's directory and this machine's clocks. Calls `askTime` while the clock is unconfirmed. */
export function watchPreconditions(
  clocks: Clocks,
  { askTime, ...limits }: DiskLimits & { readonly askTime: () => void },
): Preconditions {
  const watch = watchClock(clocks);
  let steppedAt: number | null = null;
  let disk: DiskBudget = { isLow: false, isTight: false, dailyBytes: limits.maxDailyBytes };
  let since: Micros | null = null;
  let generation = 0;

  function updateClock(record: () => void): void {
    const before = watch.doubtful;
    record();
    if (before !== watch.doubtful) generation += 1;
    if (!watch.doubtful) since = null;
  }

  return {
    look() {
      const gap = watch.look();
      if (gap) {
        steppedAt = clocks.monotonic();
        generation += 1;
        since ??= gap.end;
      }
      if (!watch.confirmed) askTime();
      return { gap, since, pause: watch.doubtful ? 'clock_doubtful' : disk.isLow ? 'disk_low' : null };
    },
    get clockGeneration() {
      return generation;
    },
    onUpstreamTime(milliseconds) {
      updateClock(() => watch.onUpstreamTime(inMicros(milliseconds)));
    },
    onTrustedTime(milliseconds, askedAt) {
      updateClock(() => watch.onTrustedTime(inMicros(milliseconds), askedAt));
    },
    get ageKnown() {
      return watch.confirmed && (steppedAt === null || clocks.monotonic() - steppedAt >= hour);
    },
    get clockRight() {
      return watch.confirmed ? true : watch.doubtful ? false : null;
    },
    get disk() {
      return disk;
    },
    async checkDisk() {
      disk = await readDisk(limits);
    },
  };
}

function inMicros(milliseconds: number): Micros {
  return micros(Math.round(milliseconds * 1000));
}

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
