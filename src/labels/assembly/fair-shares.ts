import type { Micros } from '../../contract/timestamp.ts';
import type { StoreWriter } from '../../store/port.ts';
import { dayOf, dayStart, micros } from '../../store/time.ts';
import type { Clocks } from '../clock/clock-watch.ts';
import { wait } from '../clock/wait.ts';
import { GapWriter } from '../publish/gap-writer.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { createShareOf } from '../roster/share-of.ts';
import { DailyCap } from '../shares/daily-cap.ts';
import type { DiskBudget } from '../shares/disk-budget.ts';
import { Pace } from '../shares/pace.ts';
import type { ShareKey } from '../shares/shares.ts';
import { SourceUsage } from '../shares/source-usage.ts';
import { isPrivileged } from '../state/priority.ts';

/** Dependencies of `createFairShares`. */
export interface FairSharesOptions {
  readonly store: StoreWriter;
  readonly clocks: Clocks;
  readonly labeler: (did: string) => KnownLabeler | undefined;
  /** Returns the current budget of the disk. */
  readonly disk: () => DiskBudget;
  /** Minimum interval between two writes of one source's gaps, in milliseconds. */
  readonly gapIntervalMs: number;
  readonly maxDailyRows: number | undefined;
}

/**
 * Maximum number of gaps of a new source. The maximum bounds the cost of a publication, which reads the gaps of all
 * labelers: a labeler can cause a gap with a frame of 30 bytes.
 */
const maxGapsOfNew = 64;

/** Bounds on the resources that one source may use. */
export interface FairShares {
  readonly shareOf: (source: string) => ShareKey;
  readonly usage: SourceUsage;
  readonly pace: Pace;
  readonly cap: DailyCap;
  readonly gaps: GapWriter;
  /**
   * Charges each source for its rows of the current day. The roster must be loaded first, because it determines the
   * shares.
   */
  load(now: Micros): Promise<void>;
  /** Stores how many bytes each source added today, so that a restart can load these numbers. */
  keep(): Promise<void>;
}

/** Creates the shares of all sources. */
export function createFairShares(options: FairSharesOptions): FairShares {
  const { store, clocks, labeler, disk, maxDailyRows, gapIntervalMs } = options;
  const shareOf = createShareOf(labeler, clocks.wall);
  const usage = new SourceUsage();
  const cap = new DailyCap({
    ...{ shareOf, clock: clocks.wall },
    budgetBytes: () => disk().dailyBytes,
    isTight: () => disk().isTight,
    ...(maxDailyRows === undefined ? {} : { maxRows: maxDailyRows }),
  });
  return {
    ...{ shareOf, usage, cap },
    pace: new Pace({ shareOf, monotonic: clocks.monotonic, wait, usage }),
    gaps: new GapWriter({
      ...{ store, monotonic: clocks.monotonic, minIntervalMs: gapIntervalMs },
      maxGapsOf: (source) => (isPrivileged(shareOf(source).priority) ? undefined : maxGapsOfNew),
    }),
    async load(now) {
      const today = dayOf(now);
      const { floor } = await store.frontier();
      const start = micros(Math.max(floor, dayStart(today)));
      const end = dayStart(today + 1);
      if (start < end) cap.load(await store.countsByLabeler({ start, end }), await store.dailyBytes(today));
    },
    async keep() {
      await store.putDailyBytes(cap.save());
    },
  };
}
