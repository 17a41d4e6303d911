import { statfs } from 'node:fs/promises';
import type { Micros } from '../contract/timestamp.ts';
import { hour, type Interval, micros } from '../store/time.ts';
import type { PauseReason } from './acceptance.ts';
import { type Clocks, watchClock } from './clock-watch.ts';

/** What stands in the way of acceptance outside the store: a clock in doubt, a disk that is nearly full. */
export interface Obstacles {
  /** Looked at before each commit, and with each heartbeat. */
  look(): { readonly pause: PauseReason | null; readonly gap: Interval | null };
  /** What an upstream says the time is, in milliseconds. */
  heardTime(milliseconds: number): void;
  /** Whether the clock was set within the last hour: nothing is dropped for its age then. */
  readonly steppedLately: boolean;
  /** Looks at the disk. */
  checkDisk(): Promise<void>;
}

/** Watches over a store's folder and this machine's clocks. `askTime` is called while nobody has confirmed the clock. */
export function watchObstacles(
  clocks: Clocks,
  { folder, minFreeBytes, askTime }: { folder: string; minFreeBytes: number; askTime: () => void },
): Obstacles {
  const watch = watchClock(clocks);
  let steppedAt: number | null = null;
  let diskLow = false;
  return {
    look() {
      const gap = watch.look();
      if (gap) steppedAt = clocks.monotonic();
      if (watch.doubtful) askTime();
      return { gap, pause: watch.doubtful ? 'clock_doubtful' : diskLow ? 'disk_low' : null };
    },
    heardTime: (milliseconds) => watch.heard(micros(Math.round(milliseconds * 1000)) as Micros),
    get steppedLately() {
      return steppedAt !== null && clocks.monotonic() - steppedAt < hour;
    },
    async checkDisk() {
      const { bavail, bsize } = await statfs(folder);
      diskLow = bavail * bsize < minFreeBytes;
    },
  };
}
