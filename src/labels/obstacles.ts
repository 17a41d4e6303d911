import { statfs } from 'node:fs/promises';
import { hour, type Interval, micros } from '../store/time.ts';
import type { PauseReason } from './acceptance.ts';
import { type Clocks, watchClock } from './clock-watch.ts';

/** What stands in the way of acceptance outside the store: a clock in doubt, a disk that is nearly full. */
export interface Obstacles {
  /** Looked at before each commit, and with each heartbeat. */
  look(): { readonly pause: PauseReason | null; readonly gap: Interval | null };
  /** Another number once the clock was set or confirmed: what was judged by it before has to be judged again. */
  readonly clockEra: number;
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
  let era = 0;
  return {
    look() {
      const gap = watch.look();
      if (gap) {
        steppedAt = clocks.monotonic();
        era += 1;
      }
      if (watch.doubtful) askTime();
      return { gap, pause: watch.doubtful ? 'clock_doubtful' : diskLow ? 'disk_low' : null };
    },
    get clockEra() {
      return era;
    },
    heardTime(milliseconds) {
      const before = watch.doubtful;
      watch.heard(micros(Math.round(milliseconds * 1000)));
      if (before !== watch.doubtful) era += 1;
    },
    get steppedLately() {
      return steppedAt !== null && clocks.monotonic() - steppedAt < hour;
    },
    async checkDisk() {
      const { bavail, bsize } = await statfs(folder);
      diskLow = bavail * bsize < minFreeBytes;
    },
  };
}
