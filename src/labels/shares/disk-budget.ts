import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { storePaths } from '../../store/sqlite/base/files.ts';

/** Limits of the disk that a store is on. */
export interface DiskLimits {
  /** Folder of the store. */
  readonly folder: string;
  /** With less free space nothing is accepted. */
  readonly minFreeBytes: number;
  /** Most bytes that are added in a UTC day. */
  readonly maxDailyBytes: number;
  /** True if the free space may lower that value: false if the operator chose it. */
  readonly isDerived: boolean;
  /** Days that are kept. */
  readonly windowDays: number;
}

/** Budget that the disk has space for. */
export interface DiskBudget {
  /** Below the floor: nothing is accepted. */
  readonly isLow: boolean;
  /** Below twice the floor: only privileged sources are accepted. */
  readonly isTight: boolean;
  /** Bytes that all sources together may add in a UTC day. */
  readonly dailyBytes: number;
}

/** Most bytes that are added in a UTC day where the operator chose nothing: some thirty times the network's usual 0.29 GB. */
export const defaultMaxDailyBytes = 8_000_000_000;
/** The disk never lowers the budget below this: three times the usual day. A disk too small for that meets its floors. */
export const minDerivedBytes = 1_000_000_000;
/** Days on disk besides the window: the one under way, the one kept for exports, and room for the one that is sealed. */
const furtherDays = 3;

/** Looks at the disk. */
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
  // A store in another place, as in tests, counts as empty.
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
