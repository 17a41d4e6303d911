import type { Micros } from '../../contract/timestamp.ts';
import { hour, micros } from '../../store/time.ts';
import { type Clocks, watchClock } from '../clock/clock-watch.ts';
import type { PreconditionCheck } from '../ingest/acceptance.ts';
import { type DiskBudget, type DiskLimits, readDisk } from '../shares/disk-budget.ts';

/** Preconditions of acceptance outside the store: a confirmed clock, and enough space on the disk. */
export interface Preconditions {
  /** Looked at before each commit, and with each heartbeat. */
  look(): PreconditionCheck;
  /** Another number once the clock was set or confirmed: what was judged by it before has to be judged again. */
  readonly clockGeneration: number;
  /** Records the time that an upstream reports, in milliseconds. */
  onUpstreamTime(milliseconds: number): void;
  /** The same from one that we chose ourselves, asked at `askedAt` of the wall clock: see `ClockWatch.told`. */
  onTrustedTime(milliseconds: number, askedAt: Micros): void;
  /** True if data may be removed by age: the clock is confirmed, and was not set within the last hour. */
  readonly ageKnown: boolean;
  /** True if an upstream confirmed the clock, false if one contradicted it; null before either. */
  readonly clockRight: boolean | null;
  /** Budget of the disk at the last check. */
  readonly disk: DiskBudget;
  /** Looks at the disk. */
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
  let era = 0;

  function hear(what: () => void): void {
    const before = watch.doubtful;
    what();
    if (before !== watch.doubtful) era += 1;
    if (!watch.doubtful) since = null;
  }

  return {
    look() {
      const gap = watch.look();
      if (gap) {
        steppedAt = clocks.monotonic();
        era += 1;
        since ??= gap.end;
      }
      if (!watch.confirmed) askTime();
      return { gap, since, pause: watch.doubtful ? 'clock_doubtful' : disk.isLow ? 'disk_low' : null };
    },
    get clockGeneration() {
      return era;
    },
    onUpstreamTime(milliseconds) {
      hear(() => watch.onUpstreamTime(inMicros(milliseconds)));
    },
    onTrustedTime(milliseconds, askedAt) {
      hear(() => watch.onTrustedTime(inMicros(milliseconds), askedAt));
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
