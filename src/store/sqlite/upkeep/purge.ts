import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import { openImmutable, openReadonly, type Sqlite, storeError } from '../base/connection.ts';
import { type DayForm, dayPath, type OnFile, type StorePaths } from '../base/files.ts';
import { metaNames } from '../schema/day-schema.ts';
import type { SpaceRow } from '../state/removal-state.ts';
import type { PurgeRow, StateChanges } from '../state/state.ts';
import { discardUnlistedSeal } from './day-forms.ts';
import { moveIntoPlace, writeGrowing } from './maintenance.ts';
import { type OpenDayOptions, OpenDayPurge, OpenDaySpaces } from './open-day-removal.ts';

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
  const { paths, state, faults } = work;
  if (!sealedDayNames(dayPath(paths, day, 'sealed'), source)) {
    // The file was replaced, but the writer ended before it recorded the number of removed rows. Count at least one
    // row.
    if (atDay === day) state.endPurgeDay(source, day, 1);
    else state.skipPurgeDay(source, day);
    return;
  }
  state.beginPurgeDay(source, day);
  faults?.('purge.begun');
  const removed = await writeGrowing(work, { kind: 'purge', day, source });
  faults?.('purge.written');
  moveIntoPlace(paths, day);
  faults?.('purge.renamed');
  state.endPurgeDay(source, day, removed);
  faults?.('purge.recorded');
}

/**
 * Removes the rows of the source from an open day in commits of several hundred rows. Yields to the event loop between
 * commits, so that labels can be accepted.
 */
async function purgeOpen(work: PurgeWork, { source, atDay }: PurgeRow, day: number): Promise<void> {
  const { paths, state, faults, forget, onFile, signal } = work;
  discardUnlistedSeal(paths, day, onFile);
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

/**
 * Removes the rows about spaces from the next day. Returns true while work remains. A day without such rows stays
 * unchanged, and earlier reads of it stay valid. A sealed day that cannot be read also stays unchanged and is reported
 * once. The removal then stays incomplete until a later start finds the day repaired, or until the day expires.
 */
async function removeNextSpaceRows(work: PurgeWork, removal: SpaceRow, at: Micros): Promise<boolean> {
  const { state } = work;
  const { done, left } = work.spaceDays;
  const remaining = state.catalog().days.filter(({ day }) => day >= removal.nextDay && !done.has(day));
  if (remaining.length === 0) {
    state.completeSpaceRemoval(at);
    return false;
  }
  const possible = remaining.filter(({ day }) => !left.has(day));
  const next = possible.find(({ day }) => day === removal.atDay) ?? possible[0];
  if (!next) return false;
  const { day } = next;
  const nextDay = remaining.find((other) => other.day !== day)?.day ?? day + 1;
  if (next.sealed === 1) await removeOrLeave(work, removal, { day, nextDay });
  else await removeFromOpen(work, removal, { day, nextDay });
  if (!left.has(day)) done.add(day);
  return true;
}

/**
 * Suspends the day that is being changed, so that other days and purges can be processed first. Counts the rows
 * removed from that day so far, or 0 if the file cannot be read.
 */
function suspendSpaceDay({ paths, state }: PurgeWork): void {
  const { atDay = null, atRows = null } = state.spaceRow() ?? {};
  if (atDay === null) return;
  const found = state.catalog().days.find(({ day }) => day === atDay);
  let removed = 0;
  try {
    const form = found?.sealed === 1 ? 'sealed' : 'open';
    if (found) removed = Math.max(0, purgedRows(dayPath(paths, atDay, form), form) - (atRows ?? 0));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
  state.suspendSpaceDay(atDay, removed);
}

/** One step of the removal, which processes one day. */
interface DayStep {
  readonly day: number;
  /** First incomplete day after this step. */
  readonly nextDay: number;
}

/**
 * Removes the rows about spaces from a sealed day. If the day cannot be rewritten and a retry would not help, leaves
 * the day unchanged and reports it, because damage to one old day must not stop the writer.
 */
async function removeOrLeave(work: PurgeWork, removal: SpaceRow, step: DayStep): Promise<void> {
  const { paths, onFile, signal, spaceDays } = work;
  const { day } = step;
  try {
    await removeFromSealed(work, removal, step);
  } catch (thrown) {
    const error = storeError(thrown, paths.days);
    if (signal.aborted || !(error instanceof StoreError) || error.retry) throw error;
    suspendSpaceDay(work);
    spaceDays.left.add(day);
    const reason = `rows about spaces were not removed from the day, and the removal is incomplete: ${error.message}`;
    onFile({ name: basename(dayPath(paths, day, 'sealed')), day: dayName(day), action: 'left', reason });
  }
}

/** Replaces a sealed day with a file without rows about spaces. Readers see either the old or the new file. */
async function removeFromSealed(
  { paths, state, faults, signal }: PurgeWork,
  { atDay, atRows }: SpaceRow,
  { day, nextDay }: DayStep,
): Promise<void> {
  const before = atDay === day ? atRows : null;
  const sealed = dayPath(paths, day, 'sealed');
  const removed = await writeGrowing({ paths, signal }, { kind: 'spaces', day });
  if (removed === 0) {
    // If the day was already started, its file was replaced, but the writer ended before it recorded the completion.
    if (before === null) state.skipSpaceDay(nextDay);
    else state.endSpaceDay(day, purgedRows(sealed) - before, nextDay);
    return;
  }
  faults?.('purge.written');
  const base = before ?? purgedRows(sealed);
  state.beginSpaceDay(day, base);
  faults?.('purge.begun');
  moveIntoPlace(paths, day);
  faults?.('purge.renamed');
  state.endSpaceDay(day, purgedRows(sealed) - base, nextDay);
  faults?.('purge.recorded');
}

/** Removes the rows about spaces from an open day in commits of several hundred rows. */
async function removeFromOpen(work: PurgeWork, { atDay, atRows }: SpaceRow, { day, nextDay }: DayStep): Promise<void> {
  const { paths, state, faults, forget, onFile, signal } = work;
  discardUnlistedSeal(paths, day, onFile);
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
    if (before === null) state.skipSpaceDay(nextDay);
    else state.endSpaceDay(day, file.purged() - before, nextDay);
    faults?.('purge.recorded');
  } finally {
    file.close();
  }
}

/** Days that the removal of rows about spaces has processed since the store was opened. */
interface SpaceDays {
  /** Days from which all rows about spaces were removed. */
  readonly done: Set<number>;
  /** Sealed days that could not be rewritten. The removal tries them again after the store is next opened. */
  readonly left: Set<number>;
}

/** State and options of a purge and of the removal of rows about spaces. */
interface PurgeWork extends OpenDayOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly spaceDays: SpaceDays;
  readonly onFile: OnFile;
  readonly signal: AbortSignal;
}

/** Throws `closed` if the store was closed. */
function assertOpen(signal: AbortSignal): void {
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
}

/**
 * Returns true if a sealed day contains a source's name, which means that the day has rows or refusals of the source.
 */
function sealedDayNames(path: string, source: string): boolean {
  const named = 'SELECT 1 FROM source WHERE name = ?';
  return reading(path, (db) => db.prepare(named).get(source) !== undefined);
}

/** Returns the number of rows that were ever removed from a day, according to its file. */
function purgedRows(path: string, form: DayForm = 'sealed'): number {
  const sql = 'SELECT value FROM meta WHERE name = ?';
  const value = (db: Sqlite) => db.prepare<[string], number>(sql).pluck().get(metaNames.purged);
  return reading(path, value, form) ?? 0;
}

/** Runs a query on a day's file. */
function reading<T>(path: string, query: (db: Sqlite) => T, form: DayForm = 'sealed'): T {
  const db = (form === 'sealed' ? openImmutable : openReadonly)(path, 1024 * 1024);
  try {
    return query(db);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}
