import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { storePaths } from '../../store/sqlite/base/files.ts';
import { hour, micros } from '../../store/time.ts';
import { type Clocks, ClockWatch, wait } from '../clock/clock.ts';
import type { PreconditionCheck } from '../ingest/ports.ts';
import type { Telemetry } from '../shares/telemetry.ts';

/**
 * Conditions outside the store for accepting pages: a clock that is not doubtful, and enough disk space. Monitors this
 * machine's clocks and the store's directory.
 */
export class Preconditions {
  readonly #clocks: Clocks;
  readonly #watch: ClockWatch;
  readonly #askTime: () => void;
  readonly #limits: DiskLimits;
  #steppedAt: number | null = null;
  #disk: DiskBudget;
  #since: Micros | null = null;
  #generation = 0;

  /** Calls `askTime` while the clock is unconfirmed. */
  constructor(clocks: Clocks, { askTime, ...limits }: DiskLimits & { readonly askTime: () => void }) {
    this.#clocks = clocks;
    this.#watch = new ClockWatch(clocks);
    this.#askTime = askTime;
    this.#limits = limits;
    this.#disk = { isLow: false, isTight: false, dailyBytes: limits.maxDailyBytes };
  }

  /**
   * Checks the clocks. Must be called at startup, before each commit and with each heartbeat. Returns the clock step,
   * if any, and the reason to pause acceptance, if any: a doubtful clock, or too little free space at the last
   * `checkDisk`.
   */
  look(): PreconditionCheck {
    const gap = this.#watch.look();
    if (gap) {
      this.#steppedAt = this.#clocks.monotonic();
      this.#generation += 1;
      this.#since ??= gap.end;
    }
    if (!this.#watch.confirmed) this.#askTime();
    const pause = this.#watch.doubtful ? 'clock_doubtful' : this.#disk.isLow ? 'disk_low' : null;
    return { gap, since: this.#since, pause };
  }

  /**
   * Number that changes when the clock is set or confirmed; labels that were judged before the change must be judged
   * again.
   */
  get clockGeneration(): number {
    return this.#generation;
  }

  /** Records the time that an upstream reports, in milliseconds. */
  onUpstreamTime(milliseconds: number): void {
    this.#updateClock(() => this.#watch.onUpstreamTime(inMicros(milliseconds)));
  }

  /** Records the time in an upstream's response; `askedAt` is the wall-clock time of the request. */
  onTrustedTime(milliseconds: number, askedAt: Micros): void {
    this.#updateClock(() => this.#watch.onTrustedTime(inMicros(milliseconds), askedAt));
  }

  #updateClock(record: () => void): void {
    const before = this.#watch.doubtful;
    record();
    if (before !== this.#watch.doubtful) this.#generation += 1;
    if (!this.#watch.doubtful) this.#since = null;
  }

  /** True if data may be removed by age: the clock is confirmed, and was not set within the last hour. */
  get ageKnown(): boolean {
    const steppedAt = this.#steppedAt;
    return this.#watch.confirmed && (steppedAt === null || this.#clocks.monotonic() - steppedAt >= hour);
  }

  /**
   * True if an upstream confirmed the clock. False if the clock stepped, or an upstream contradicted the unconfirmed
   * clock, without a confirmation since then. Null before any of these events.
   */
  get clockRight(): boolean | null {
    return this.#watch.confirmed ? true : this.#watch.doubtful ? false : null;
  }

  /**
   * Time of the wall clock; null if the clock is doubtful, or has stepped since the last `look`. Can be read between two
   * calls of `look`.
   */
  get undoubtedTime(): Micros | null {
    return this.#watch.undoubtedTime;
  }

  /** Disk budget at the last check of the free space. */
  get disk(): DiskBudget {
    return this.#disk;
  }

  /** Checks the free space and updates the disk budget. */
  async checkDisk(): Promise<void> {
    this.#disk = await readDisk(this.#limits);
  }
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

/** Settings that determine the budget of the disk of a store. */
interface DiskLimits {
  /** Directory of the store. */
  readonly folder: string;
  /**
   * True if the store is in a database. The free space of the database is unknown, and the server refuses rows when its
   * disk is full.
   */
  readonly isRemote?: boolean;
  /** Minimum free space, in bytes; with less, no labels are accepted. */
  readonly minFreeBytes: number;
  /** Maximum number of bytes that are added in a UTC day. */
  readonly maxDailyBytes: number;
  /** True if the free space may lower `maxDailyBytes`, or false if the operator chose that value. */
  readonly isDerived: boolean;
  /** Number of retained days. */
  readonly windowDays: number;
}

/** Budget that the free space of the disk allows. */
interface DiskBudget {
  /** True if the free space is below the minimum, so that no labels are accepted. */
  readonly isLow: boolean;
  /** True if the free space is below twice the minimum, so that only privileged sources are accepted. */
  readonly isTight: boolean;
  /** Bytes that all sources together may add in a UTC day. */
  readonly dailyBytes: number;
}
/**
 * Minimum of a derived budget, in bytes: more than three times a typical day. If the disk is too small for this budget,
 * the minimum free space limits acceptance.
 */
const minDerivedBytes = 1_000_000_000;
/**
 * Number of days on disk in addition to the window: the current day, a day retained for exports, and space for sealing
 * a day.
 */
const furtherDays = 3;

/**
 * Returns the budget, computed from the free space and the size of the store. For a remote store, returns the
 * configured maximum.
 */
async function readDisk(limits: DiskLimits): Promise<DiskBudget> {
  if (limits.isRemote === true) return { isLow: false, isTight: false, dailyBytes: limits.maxDailyBytes };
  const { bavail, bsize } = await statfs(limits.folder);
  return budgetOf(bavail * bsize, await storedBytes(limits.folder), limits);
}

/**
 * Returns the budget of a disk with the given free space. A derived daily budget is an equal part for each retained
 * day, within the minimum and the maximum; a budget that the operator chose does not change. The store's own size
 * counts as available, so the budget does not shrink as days fill.
 */
export function budgetOf(
  freeBytes: number,
  storedBytes: number,
  { minFreeBytes, maxDailyBytes, isDerived, windowDays }: Omit<DiskLimits, 'folder'>,
): DiskBudget {
  const part = (freeBytes + storedBytes - 2 * minFreeBytes) / (windowDays + furtherDays);
  return {
    isLow: freeBytes < minFreeBytes,
    isTight: freeBytes < 2 * minFreeBytes,
    dailyBytes: isDerived ? Math.min(maxDailyBytes, Math.max(minDerivedBytes, part)) : maxDailyBytes,
  };
}

async function storedBytes(folder: string): Promise<number> {
  const { days } = storePaths(folder);
  // Count a store without day files, as in tests, as empty.
  const names = await readdir(days).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(days, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
