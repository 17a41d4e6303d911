import { chmodSync, renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import { syncFolder } from '../base/connection.ts';
import { dayPath, growingPath, removeDatabase } from '../base/files.ts';
import type { PurgeRow } from '../state/state-read.ts';
import { OpenDayPurge } from './purge-open-day.ts';
import { sealedDayNames } from './purge-sealed-day.ts';
import { assertOpen, type PurgeWork } from './purge-work.ts';
import { writeInThread } from './seal.ts';
import { removeNextSpaceRows, suspendSpaceDay } from './spaces.ts';

/**
 * Processes the next day of the oldest request, or of the removal of rows about spaces if no request is pending.
 * Returns true while work remains. If the removal of rows about spaces was interrupted within a day, that day is
 * completed first, so that its count of removed rows does not include rows of a purge. If this fails, pending requests
 * are processed first.
 */
export async function purgeNextDay(work: PurgeWork, at: Micros): Promise<boolean> {
  const removal = work.state.spaceRow();
  const isPending = removal !== null && removal.completedAt === null;
  if (isPending && removal.atDay !== null) {
    try {
      return await removeNextSpaceRows(work, removal, at);
    } catch (error) {
      const isRequested = work.state.purgeRows().some(({ completedAt }) => completedAt === null);
      if (work.signal.aborted || !isRequested) throw error;
      // Ignore the error: after the requests, the removal processes this day again and throws the error if it recurs.
      suspendSpaceDay(work);
    }
  }
  if (await purgeNextRequest(work, at)) return true;
  const rest = work.state.spaceRow();
  return rest !== null && rest.completedAt === null && removeNextSpaceRows(work, rest, at);
}

async function purgeNextRequest(work: PurgeWork, at: Micros): Promise<boolean> {
  const { state } = work;
  const pending = state.purgeRows().filter(({ completedAt }) => completedAt === null);
  const [request] = pending;
  if (!request) return false;
  const next = state.catalog().days.find(({ day }) => day >= request.nextDay);
  if (!next) {
    state.completePurge(request.source, at);
    return pending.length > 1;
  }
  if (next.sealed === 1) await purgeSealed(work, request, next.day);
  else await purgeOpen(work, request, next.day);
  return true;
}

/** Replaces a sealed day with a file without the rows of the source. Readers see either the old or the new file. */
async function purgeSealed(work: PurgeWork, { source, atDay }: PurgeRow, day: number): Promise<void> {
  const { paths, state, faults, signal } = work;
  const sealed = dayPath(paths, day, 'sealed');
  if (!sealedDayNames(sealed, source)) {
    // The file was replaced, but the writer ended before it recorded the number of removed rows. Count at least one
    // row.
    if (atDay === day) state.endPurgeDay(source, day, 1);
    else state.skipPurgeDay(source, day);
    return;
  }
  state.beginPurgeDay(source, day);
  faults?.('purge.begun');
  const growing = growingPath(paths, day);
  let removed: number;
  try {
    removed = await writeInThread({ kind: 'purge', from: sealed, growing, day, source }, signal);
  } catch (error) {
    // Remove the incomplete file to free its space.
    removeDatabase(growing);
    throw error;
  }
  assertOpen(signal);
  chmodSync(growing, 0o444);
  faults?.('purge.written');
  renameSync(growing, sealed);
  syncFolder(paths.days);
  faults?.('purge.renamed');
  state.endPurgeDay(source, day, removed);
  faults?.('purge.recorded');
}

/**
 * Removes the rows of the source from an open day in commits of several hundred rows. Yields to the event loop between
 * commits, so that labels can be accepted.
 */
async function purgeOpen(work: PurgeWork, { source, atDay }: PurgeRow, day: number): Promise<void> {
  const { paths, state, faults, forget, signal } = work;
  const file = new OpenDayPurge(dayPath(paths, day, 'open'), day, source, work);
  try {
    if (!file.holdsAny()) {
      if (atDay === day) state.endPurgeDay(source, day, 0);
      else state.skipPurgeDay(source, day);
      return;
    }
    state.beginPurgeDay(source, day);
    faults?.('purge.begun');
    for (let identities = file.removeSome(); identities.length > 0; identities = file.removeSome()) {
      forget(identities);
      await nextTurn();
      assertOpen(signal);
      state.continuePurgeDay(source, identities.length);
    }
    file.removeRest();
    faults?.('purge.emptied');
    state.endPurgeDay(source, day, 0);
    faults?.('purge.recorded');
  } finally {
    file.close();
  }
}
