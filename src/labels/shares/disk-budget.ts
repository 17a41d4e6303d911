import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { storePaths } from '../../store/sqlite/base/files.ts';

/** Limits of the disk that a store is on. */
export interface DiskLimits {
  /** Directory of the store. */
  readonly folder: string;
  /** Minimum free space; with less, nothing is accepted. */
  readonly minFreeBytes: number;
  /** Maximum bytes that are added in a UTC day. */
  readonly maxDailyBytes: number;
  /** True if the free space may lower that value: false if the operator chose it. */
  readonly isDerived: boolean;
  /** Number of retained days. */
  readonly windowDays: number;
}

/** Budget that the disk has space for. */
export interface DiskBudget {
  /** True below the minimum: nothing is accepted. */
  readonly isLow: boolean;
  /** True below twice the minimum: only privileged sources are accepted. */
  readonly isTight: boolean;
  /** Bytes that all sources together may add in a UTC day. */
  readonly dailyBytes: number;
}

/** Default maximum of bytes in a UTC day: about thirty times the network's typical 0.29 GB. */
export const defaultMaxDailyBytes = 8_000_000_000;
/** Minimum of a derived budget: three times a typical day. A disk that is too small for it reaches the minimum free space. */
export const minDerivedBytes = 1_000_000_000;
/** Days on disk besides the window: the current one, one retained for exports, and space for sealing one. */
const furtherDays = 3;

/** Reads the free space and the store's size, and computes the budget. */
export async function readDisk(limits: DiskLimits): Promise<DiskBudget> {
  const { bavail, bsize } = await statfs(limits.folder);
  return budgetOf(bavail * bsize, await storedBytes(limits.folder), limits);
}

/**
 * Computes the daily budget of a disk with so much free space: an equal part for each retained day. The store's own
 * size counts as available, so the budget does not shrink as days fill.
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
  // A store in another directory, as in tests, counts as empty.
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
