import { chmodSync, existsSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { duplicateHorizon, type Maintenance } from '../../port.ts';
import { dayName, dayOf, dayStart } from '../../time.ts';
import { syncFolder } from '../base/connection.ts';
import { dayPath, growingPath, removeDatabase, type StorePaths } from '../base/files.ts';
import { storeError } from '../base/store-error.ts';
import type { StateChanges } from '../state/state.ts';
import { expiredReason, sameRows } from './recover.ts';
import { keepOneDaysChecksums, type Replacing } from './replace-day.ts';
import { writeInThread } from './seal.ts';

/** State and options of the upkeep of a store. */
interface Upkeep extends Replacing {
  readonly state: StateChanges;
  readonly windowDays: number;
}

/**
 * Drops the oldest day if it ended more than a day before the window, seals days that can no longer receive
 * duplicates, and adds checksums to at most one sealed day without them. Sealing uses the last stamp instead of the
 * wall clock if the stamp is earlier, so that a clock that jumped ahead does not seal days to which rows will still
 * be added. The newest day is neither dropped nor sealed, because it contains the positions.
 */
export async function maintainDays(upkeep: Upkeep, at: Micros, last: Micros | null): Promise<Maintenance> {
  // Drop days before sealing others, because dropping frees space on a full disk.
  const expired = expire(upkeep, at);
  const sealed: string[] = [];
  const postponed: string[] = [];
  const stamped = Math.min(at, last ?? 0);
  for (const { day, sealed: form } of upkeep.state.catalog().days.slice(0, -1)) {
    if (form === 1 || dayStart(day + 1) + duplicateHorizon >= stamped) continue;
    const done = await seal(upkeep, day).then(
      () => true,
      (thrown: unknown) => {
        const error = storeError(thrown, upkeep.paths.days);
        // If a day cannot be sealed, for example because of a stalled reader or a full disk, continue with the other
        // days.
        if (error instanceof StoreError && error.retry) return false;
        throw error;
      },
    );
    (done ? sealed : postponed).push(dayName(day));
  }
  await keepOneDaysChecksums(upkeep);
  return { sealed, postponed, expired };
}

async function seal({ paths, state, faults, onFile, signal }: Upkeep, day: number): Promise<void> {
  const open = dayPath(paths, day, 'open');
  const sealed = dayPath(paths, day, 'sealed');
  // The sealed file already exists if an earlier run was interrupted after writing it but before recording the day as
  // sealed.
  if (!existsSync(sealed)) await writeSealed(paths, day, sealed, { faults, signal });
  else if (!sameRows(sealed, open)) {
    throw new StoreError(
      'damaged',
      `${dayName(day)} is listed as open in the state file, but a sealed file with different rows exists`,
    );
  }
  syncFolder(paths.days);
  faults?.('seal.renamed');
  state.addDay(day, true);
  faults?.('seal.recorded');
  // Readers can use the removed open form until their next query. The file name of the open form is never used again.
  removeDatabase(open);
  onFile({
    name: basename(open),
    day: dayName(day),
    action: 'removed',
    reason: 'the sealed file contains the same rows',
  });
}

async function writeSealed(
  paths: StorePaths,
  day: number,
  sealed: string,
  { faults, signal }: Pick<Upkeep, 'faults' | 'signal'>,
): Promise<void> {
  const growing = growingPath(paths, day);
  try {
    await writeInThread({ kind: 'seal', from: dayPath(paths, day, 'open'), growing, day }, signal);
  } catch (error) {
    // Remove the incomplete file to free its space.
    removeDatabase(growing);
    throw error;
  }
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
  // Make the complete file read-only.
  chmodSync(growing, 0o444);
  faults?.('seal.written');
  renameSync(growing, sealed);
}

function expire({ paths, state, windowDays, faults, onFile }: Upkeep, at: Micros): string[] {
  // Retain one day more than the window for exports that are still running.
  const floorDay = dayOf(at) - windowDays - 1;
  const [oldest, next] = state.catalog().days;
  if (!oldest || !next || oldest.day >= floorDay) return [];
  state.dropDaysBefore(oldest.day + 1, dayStart(oldest.day + 1));
  faults?.('expire.floor');
  for (const form of ['open', 'sealed'] as const) {
    const path = dayPath(paths, oldest.day, form);
    if (!existsSync(path)) continue;
    removeDatabase(path);
    onFile({ name: basename(path), day: dayName(oldest.day), action: 'removed', reason: expiredReason });
  }
  return [dayName(oldest.day)];
}
