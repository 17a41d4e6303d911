import { chmodSync, renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import { syncFolder } from '../base/connection.ts';
import { dayPath, growingPath, removeDatabase } from '../base/files.ts';
import type { SpaceRow } from '../state/space-state.ts';
import { assertOpen, type PurgeWork } from './purge-work.ts';
import { writeInThread } from './seal.ts';
import { OpenDaySpaces } from './spaces-open-day.ts';
import { purgedRows } from './spaces-sealed-day.ts';

/**
 * Removes the rows about spaces from the next day; returns true while work remains. A day without such rows stays
 * unchanged, and earlier reads stay valid.
 */
export async function removeNextSpaceRows(work: PurgeWork, removal: SpaceRow, at: Micros): Promise<boolean> {
  const { state } = work;
  const next = state.catalog().days.find(({ day }) => day >= removal.nextDay);
  if (!next) {
    state.completeSpaceRemoval(at);
    return false;
  }
  if (next.sealed === 1) await removeFromSealed(work, removal, next.day);
  else await removeFromOpen(work, removal, next.day);
  return true;
}

/** Replaces a sealed day by a file without rows about spaces. Readers read either the old or the new file. */
async function removeFromSealed(
  { paths, state, faults, signal }: PurgeWork,
  { atDay, atRows }: SpaceRow,
  day: number,
): Promise<void> {
  const before = atDay === day ? atRows : null;
  const sealed = dayPath(paths, day, 'sealed');
  const growing = growingPath(paths, day);
  let removed: number;
  try {
    removed = await writeInThread({ kind: 'spaces', from: sealed, growing, day }, signal);
  } catch (error) {
    // An incomplete new file is useless, and its space is needed.
    removeDatabase(growing);
    throw error;
  }
  assertOpen(signal);
  if (removed === 0) {
    // If the day was begun, its file was replaced, but the writer ended before it recorded the end.
    if (before === null) state.skipSpaceDay(day);
    else state.endSpaceDay(day, purgedRows(sealed) - before);
    return;
  }
  chmodSync(growing, 0o444);
  faults?.('purge.written');
  const base = before ?? purgedRows(sealed);
  state.beginSpaceDay(day, base);
  faults?.('purge.begun');
  renameSync(growing, sealed);
  syncFolder(paths.days);
  faults?.('purge.renamed');
  state.endSpaceDay(day, purgedRows(sealed) - base);
  faults?.('purge.recorded');
}

/** Removes the rows about spaces from an open day in commits of some hundred rows. */
async function removeFromOpen(work: PurgeWork, { atDay, atRows }: SpaceRow, day: number): Promise<void> {
  const { paths, state, faults, forget, signal } = work;
  const file = new OpenDaySpaces(dayPath(paths, day, 'open'), day, work);
  let before = atDay === day ? atRows : null;
  try {
    for (let rows = file.next(); rows !== null; rows = file.next()) {
      if (rows.length > 0) {
        if (before === null) {
          before = file.purged();
          state.beginSpaceDay(day, before);
          faults?.('purge.begun');
        }
        file.remove(rows);
        forget(rows.map(({ identity }) => identity));
        state.continueSpaceDay();
      }
      await nextTurn();
      assertOpen(signal);
    }
    faults?.('purge.emptied');
    if (before === null) state.skipSpaceDay(day);
    else state.endSpaceDay(day, file.purged() - before);
    faults?.('purge.recorded');
  } finally {
    file.close();
  }
}
