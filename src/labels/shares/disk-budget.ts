import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { storePaths } from '../../store/sqlite/base/files.ts';

/** Settings that determine the budget of the disk of a store. */
export interface DiskLimits {
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
export interface DiskBudget {
  /** True if the free space is below the minimum, so that no labels are accepted. */
  readonly isLow: boolean;
  /** True if the free space is below twice the minimum, so that only privileged sources are accepted. */
  readonly isTight: boolean;
  /** Bytes that all sources together may add in a UTC day. */
  readonly dailyBytes: number;
}

/**
 * Default maximum number of bytes that are added in a UTC day: about 28 times the 0.29 GB that the network typically
 * adds in a day.
 */
export const defaultMaxDailyBytes = 8_000_000_000;
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
export async function readDisk(limits: DiskLimits): Promise<DiskBudget> {
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
