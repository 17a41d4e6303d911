import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { RemovalDays, RemovalProgress } from '../../common/removal-progress.ts';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import { openImmutable, openReadonly, type Sqlite, storeError } from '../base/connection.ts';
import { type DayForm, dayPath, type OnFile, type StorePaths } from '../base/files.ts';
import { metaNames } from '../schema/day-schema.ts';
import type { RemovalStep, SpaceRow } from '../state/removal-state.ts';
import type { Catalog, PurgeRow, StateChanges } from '../state/state.ts';
import { discardUnlistedSeal } from './day-forms.ts';
import { moveIntoPlace, writeGrowing } from './maintenance.ts';
import { type OpenDayOptions, OpenDayPurge, OpenDaySpaces } from './open-day-removal.ts';

/**
 * Processes the next day of the oldest request that can be processed, or of the removal of rows about spaces if there is
 * none. Returns false if no work remains other than damaged days. If the removal of rows about spaces was interrupted
 * within a day, that day is completed first, so that its count of removed rows does not include rows of a purge. If this
 * fails, pending requests are processed first.
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

/**
 * Processes the next day of the oldest request that can be processed. Returns false if no request is pending, or if only
 * damaged days remain.
 */
async function purgeNextRequest(work: PurgeWork, at: Micros): Promise<boolean> {
  const { state, progress } = work;
  const pending = state.purgeRows().filter(({ completedAt }) => completedAt === null);
  if (pending.length === 0) return false;
  // Read the list once, because many requests may each have a damaged day.
  const { days: stored } = state.catalog();
  for (const request of pending) {
    const days = progress.daysOf(request);
    const next = nextStep(stored, request, days);
    if (next === 'none') {
      state.completePurge(request.source, at);
      progress.forget(request);
      return pending.length > 1;
    }
    if (next === 'damaged') continue;
    if (next.isSealed) await purgeSealed(work, request, next, days);
    else await purgeOpen(work, request, next);
    if (!days.damaged.has(next.day)) days.done.add(next.day);
    return true;
  }
  return false;
}

/**
 * Returns the next day of a removal, `none` if no day remains, or `damaged` if only damaged days remain.
 * A day that was started is completed first.
 */
function nextStep(
  stored: Catalog['days'],
  removal: Pick<PurgeRow, 'nextDay' | 'atDay'>,
  { done, damaged }: RemovalDays,
): (RemovalStep & { readonly isSealed: boolean }) | 'none' | 'damaged' {
  const remaining = stored.filter(({ day }) => day >= removal.nextDay && !done.has(day));
  if (remaining.length === 0) return 'none';
  const possible = remaining.filter(({ day }) => !damaged.has(day));
  const next = possible.find(({ day }) => day === removal.atDay) ?? possible[0];
  if (!next) return 'damaged';
  const { day, sealed } = next;
  const nextDay = remaining.find((other) => other.day !== day)?.day ?? day + 1;
  return { day, nextDay, isSealed: sealed === 1 };
}

/**
 * Replaces a sealed day with a file without the rows of the source. Readers see either the old or the new file. Leaves a
 * damaged day unchanged and reports it.
 */
async function purgeSealed(work: PurgeWork, request: PurgeRow, step: RemovalStep, days: RemovalDays): Promise<void> {
  const { paths, state, faults } = work;
  const { source, atDay } = request;
  const { day, nextDay } = step;
  let removed: number | null;
  try {
    removed = await writeWithoutSource(work, source, day);
  } catch (thrown) {
    reportDamaged(work, day, thrown, `rows of ${source} were not removed from the day, and their purge is incomplete`);
    state.suspendPurgeDay(source);
    days.damaged.add(day);
    return;
  }
  if (removed === null) {
    // The file was replaced, but the writer ended before it recorded the number of removed rows. Count at least one
    // row.
    if (atDay === day) state.endPurgeDay(source, step, 1);
    else state.skipPurgeDay(source, nextDay);
    return;
  }
  faults?.('purge.written');
  moveIntoPlace(paths, day);
  faults?.('purge.renamed');
  state.endPurgeDay(source, step, removed);
  faults?.('purge.recorded');
}

/**
 * Writes the new file of a sealed day without the rows of the source. Returns the number of omitted rows, or null if the
 * day has no rows or refusals of the source.
 */
async function writeWithoutSource(work: PurgeWork, source: string, day: number): Promise<number | null> {
  if (!sealedDayNames(dayPath(work.paths, day, 'sealed'), source)) return null;
  work.state.beginPurgeDay(source, day);
  work.faults?.('purge.begun');
  return writeGrowing(work, { kind: 'purge', day, source });
}

/**
 * Reports a sealed day that is damaged, because damage to one old day must not stop the writer. Throws any other error,
 * and any error after the store was closed.
 */
function reportDamaged({ paths, onFile, signal }: PurgeWork, day: number, thrown: unknown, what: string): void {
  const error = storeError(thrown, paths.days);
  if (signal.aborted || !(error instanceof StoreError) || error.code !== 'damaged') throw error;
  const name = basename(dayPath(paths, day, 'sealed'));
  onFile({ name, day: dayName(day), action: 'left', reason: `${what}: ${error.message}` });
}

/**
 * Removes the rows of the source from an open day in commits of several hundred rows. Yields to the event loop between
 * commits, so that labels can be accepted.
 */
async function purgeOpen(work: PurgeWork, { source, atDay }: PurgeRow, step: RemovalStep): Promise<void> {
  const { paths, state, faults, forget, onFile, signal } = work;
  const { day, nextDay } = step;
  discardUnlistedSeal(paths, day, onFile);
  const file = new OpenDayPurge(dayPath(paths, day, 'open'), day, source, work);
  try {
    if (!file.holdsAny()) {
      if (atDay === day) state.endPurgeDay(source, step, 0);
      else state.skipPurgeDay(source, nextDay);
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
    state.endPurgeDay(source, step, 0);
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
  const days = work.progress.spaces;
  const next = nextStep(work.state.catalog().days, removal, days);
  if (next === 'none') work.state.completeSpaceRemoval(at);
  if (next === 'none' || next === 'damaged') return false;
  if (next.isSealed) await removeOrLeave(work, removal, next);
  else await removeFromOpen(work, removal, next);
  if (!days.damaged.has(next.day)) days.done.add(next.day);
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

/**
 * Removes the rows about spaces from a sealed day. Leaves a damaged day unchanged and reports it.
 */
async function removeOrLeave(work: PurgeWork, removal: SpaceRow, step: RemovalStep): Promise<void> {
  try {
    await removeFromSealed(work, removal, step);
  } catch (thrown) {
    reportDamaged(
      work,
      step.day,
      thrown,
      'rows about spaces were not removed from the day, and the removal is incomplete',
    );
    suspendSpaceDay(work);
    work.progress.spaces.damaged.add(step.day);
  }
}

/** Replaces a sealed day with a file without rows about spaces. Readers see either the old or the new file. */
async function removeFromSealed(
  { paths, state, faults, signal }: PurgeWork,
  { atDay, atRows }: SpaceRow,
  { day, nextDay }: RemovalStep,
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
async function removeFromOpen(
  work: PurgeWork,
  { atDay, atRows }: SpaceRow,
  { day, nextDay }: RemovalStep,
): Promise<void> {
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

/** State and options of a purge and of the removal of rows about spaces. */
interface PurgeWork extends OpenDayOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly progress: RemovalProgress;
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
