import { chmodSync, renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../errors.ts';
import { syncFolder } from './connection.ts';
import { dayPath, growingPath, removeDatabase, type StorePaths } from './files.ts';
import { type OpenDayOptions, OpenDayPurge } from './purge-open-day.ts';
import { sealedDayNames } from './purge-sealed-day.ts';
import { writeInThread } from './seal.ts';
import type { PurgeRow } from './state-read.ts';
import type { StateChanges } from './state-write.ts';

/** Dependencies of a purge. */
export interface PurgeWork extends OpenDayOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Identities of removed rows: the same labels may be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly signal: AbortSignal;
}

/** Does the next day of the oldest request; true while there is more to do. */
export async function purgeNextDay(work: PurgeWork, at: Micros): Promise<boolean> {
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

/** The day is replaced by a file without the source, as a day is sealed: readers have the old one or the new one. */
async function purgeSealed(work: PurgeWork, { source, atDay }: PurgeRow, day: number): Promise<void> {
  const { paths, state, faults, signal } = work;
  const sealed = dayPath(paths, day, 'sealed');
  if (!sealedDayNames(sealed, source)) {
    // It was replaced, and the writer ended before it could record how many rows went: at least one, most likely.
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
    // Half a day is of no use, and its space is needed.
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

/** Rows go in commits of some hundred, with a turn of the event loop between them for what is accepted meanwhile. */
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

function assertOpen(signal: AbortSignal): void {
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
}
