import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError, type StoreErrorCode, storeErrors } from '../../errors.ts';
import { duplicateHorizon, type Maintenance } from '../../port.ts';
import { dayFromName, dayName, dayOf, dayStart, daysUntilExpiry } from '../../time.ts';
import { type Faults, storeError, syncFolder } from '../base/connection.ts';
import {
  type DayForm,
  dayPath,
  growingPath,
  listDays,
  type OnFile,
  removeDatabase,
  type StorePaths,
} from '../base/files.ts';
import { type DayContent, dayContent, recordLostTails, remedy } from '../read/lost-tail.ts';
import { hasChecksums } from '../schema/day-schema.ts';
import type { StateChanges } from '../state/state.ts';
import { assertSameRows, haveSameRows } from './day-forms.ts';
import type { DayTask } from './seal-day.ts';

/** Options for replacing a sealed day. */
interface ReplaceOptions {
  readonly paths: StorePaths;
  readonly faults: Faults | undefined;
  readonly onFile: OnFile;
  readonly signal: AbortSignal;
}

/** State and options for adding checksums to a sealed day. */
interface Replacing extends ReplaceOptions {
  readonly state: StateChanges;
  /** Days for which adding checksums has failed since the store was opened. These days are not tried again. */
  readonly refused: Set<number>;
}

/** State and options of the upkeep of a store. */
interface Upkeep extends Replacing {
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
  if (!existsSync(sealed)) {
    await writeGrowing({ paths, signal }, { kind: 'seal', day });
    faults?.('seal.written');
    moveIntoPlace(paths, day);
  } else {
    assertSameRows(day, { sealed, open });
    syncFolder(paths.days);
  }
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

function expire({ paths, state, windowDays, faults, onFile }: Upkeep, at: Micros): string[] {
  // Retain one day more than the window for exports that are still running. A reader may still have the file open: it
  // refuses intervals before the floor, and the space becomes free once it has closed the file.
  const lastDay = dayOf(at) - daysUntilExpiry(windowDays);
  const [oldest, next] = state.catalog().days;
  if (!oldest || !next || oldest.day > lastDay) return [];
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

interface DayFile {
  readonly day: number;
  readonly form: DayForm;
  readonly path: string;
  readonly content: DayContent;
}

/**
 * Makes the directory and the state file consistent after an interruption at any point. Removes a day's file only if
 * the state file proves that it is not needed: the day is below the floor, exists in sealed form, or contains no rows.
 * Throws `damaged` before any removal for a day of another generation, an unreadable day, and a listed day without a
 * file. Also throws `damaged` for a day whose two forms have different rows if the state file does not list the sealed
 * form. Returns true if it found lost commits; see `recordLostTails`.
 */
export function recoverDays(paths: StorePaths, state: StateChanges, onFile: OnFile): boolean {
  const names = readdirSync(paths.days);
  const files = listDays(paths).map(({ day, form }): DayFile => {
    const path = dayPath(paths, day, form);
    return { day, form, path, content: dayContent(path, true) };
  });
  const catalog = state.catalog();
  const known = new Map(catalog.days.map(({ day, sealed }) => [day, sealed === 1]));
  const floor = dayOf(catalog.floor);
  assertGeneration(files, state.epoch().generationId, known);
  assertCatalog(files, [...known.keys()], floor, paths);
  const kept = files.filter((file) => keep(file, floor, onFile));
  for (const [day, isSealed] of known) removeSupersededForm(kept, day, isSealed, onFile);
  for (const { day } of kept) {
    const isSealed = kept.some((file) => file.day === day && file.form === 'sealed');
    if (!known.has(day)) removeSupersededForm(kept, day, false, onFile);
    state.addDay(day, isSealed);
  }
  const hasLost = recordLostTails(paths, state, onFile);
  reportOthers(paths, names, onFile);
  return hasLost;
}

function assertGeneration(files: readonly DayFile[], generation: string, known: ReadonlyMap<number, boolean>): void {
  for (const { day, path, content } of files) {
    const isOurs = content.kind === 'day' && content.generation === generation;
    const mayBeUnfinished = content.kind === 'unfinished' || content.kind === 'foreign';
    if (isOurs || (mayBeUnfinished && !known.has(day))) continue;
    const why =
      content.kind === 'unreadable'
        ? content.why
        : `${path} belongs to another generation of the store, or has no generation`;
    throw new StoreError('damaged', `${dayName(day)}: ${why}: ${remedy}`);
  }
}

function assertCatalog(files: readonly DayFile[], known: readonly number[], floor: number, paths: StorePaths): void {
  const found = new Set(files.map(({ day }) => day));
  const missing = known.find((day) => !found.has(day));
  if (missing !== undefined) {
    const what = `the file of ${dayName(missing)} is missing in ${paths.days}`;
    throw new StoreError('damaged', `${what}: restore it, or restore state.sqlite and days from one copy`);
  }
  // The commit that raises the floor also removes the days below it from the list, so a listed day below the floor
  // means that the state file is damaged.
  const below = known.find((day) => day < floor);
  if (below !== undefined) {
    const what = `state.sqlite lists ${dayName(below)}, which is before its floor ${dayName(floor)}`;
    throw new StoreError('damaged', `${what}: ${remedy}`);
  }
}

/** Removes or moves aside the file of an expired, unfinished or foreign day. Returns true if the file is kept. */
function keep({ day, path, content, form }: DayFile, floor: number, onFile: OnFile): boolean {
  const name = nameOf(day, form);
  const remove = (reason: string): void => {
    removeDatabase(path);
    onFile({ name, day: dayName(day), action: 'removed', reason });
  };
  switch (content.kind) {
    case 'unfinished':
      remove('the file was an unfinished new day without any rows');
      return false;
    case 'foreign':
      renameSync(path, freeName(`${path}.aside`));
      onFile({
        name,
        day: null,
        action: 'moved_aside',
        reason: 'the file is named like a day file but has other content',
      });
      return false;
    case 'unreadable':
      return true;
    case 'day':
      if (day >= floor) return true;
      remove(expiredReason);
      return false;
  }
}

/**
 * Removes the open form of a day whose sealed form has the same rows. Both forms exist after an interruption between
 * sealing the day and removing its open form.
 */
function removeSupersededForm(files: readonly DayFile[], day: number, isSealed: boolean, onFile: OnFile): void {
  const [open, sealed] = (['open', 'sealed'] as const).map((form) =>
    files.find((file) => file.day === day && file.form === form),
  );
  if (!open || !sealed) return;
  const event = { name: nameOf(day, 'open'), day: dayName(day) };
  if (haveSameRows({ sealed: sealed.path, open: open.path })) {
    removeDatabase(open.path);
    onFile({ ...event, action: 'removed', reason: 'the sealed file contains the same rows' });
  } else if (isSealed) {
    onFile({ ...event, action: 'left', reason: 'the state file lists the sealed file, which contains different rows' });
  } else {
    const what = `${dayName(day)} has an open and a sealed file with different rows`;
    throw new StoreError(
      'damaged',
      `${what}: restore state.sqlite and days from one copy (almanac labels restore FROM)`,
    );
  }
}

const dayFile = /^(\d{4}-\d{2}-\d{2})\.(open|sealed)\.sqlite(\.growing)?(-wal|-shm|-journal)?$/;

/**
 * Removes the incomplete file that an interrupted seal of an existing day left behind, and reports every other file
 * that is not a day file.
 */
function reportOthers(paths: StorePaths, names: readonly string[], onFile: OnFile): void {
  for (const name of names) {
    if (!existsSync(join(paths.days, name))) continue;
    const [, date = '', form, growing, companion] = dayFile.exec(name) ?? [];
    const day = dayFromName(date);
    const exists = (of: DayForm): boolean => day !== null && existsSync(dayPath(paths, day, of));
    if (day !== null && growing !== undefined && form === 'sealed' && (exists('open') || exists('sealed'))) {
      rmSync(join(paths.days, name), { force: true });
      onFile({ name, day: date, action: 'removed', reason: 'the file was left by an interrupted seal' });
    } else if (day === null || growing !== undefined) {
      onFile({ name, day: null, action: 'left', reason: 'the file is not a day file of this store' });
    } else if (companion !== undefined && !exists(form === 'open' ? 'open' : 'sealed')) {
      onFile({ name, day: null, action: 'left', reason: 'the day file to which this file belongs does not exist' });
    }
  }
}

/** Reason for the removal of a day below the floor, in file events. */
const expiredReason = 'the day is older than the window';

function nameOf(day: number, form: DayForm): string {
  return `${dayName(day)}.${form}.sqlite`;
}

function freeName(path: string): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? path : `${path}-${n}`;
    if (!existsSync(candidate)) return candidate;
  }
}

/**
 * Adds checksums to the newest sealed day without them, which an earlier version wrote, by rewriting the day and
 * replacing its file. If this fails, for example because the counters do not match the rows, the day stays unverified
 * and is reported once; after a transient error, a later run tries again.
 */
async function keepOneDaysChecksums(replacing: Replacing): Promise<void> {
  const { paths, state, onFile, refused } = replacing;
  const day = state
    .catalog()
    .days.findLast(
      ({ day, sealed }) => sealed === 1 && !refused.has(day) && !hasChecksums(dayPath(paths, day, 'sealed')),
    );
  if (!day) return;
  try {
    await replaceDay(replacing, day.day, 'check');
  } catch (thrown) {
    const error = storeError(thrown, paths.days);
    if (!(error instanceof StoreError) || error.code === 'closed') throw error;
    // The error is transient, for example a full disk. A later run tries again.
    if (error.retry) return;
    refused.add(day.day);
    const name = basename(dayPath(paths, day.day, 'sealed'));
    onFile({ name, day: dayName(day.day), action: 'left', reason: `the day stays unverified: ${error.message}` });
  }
}

/**
 * Rewrites a sealed day and replaces the old file. After a crash at any point, either the old or the new file is in
 * place.
 */
export async function replaceDay(options: ReplaceOptions, day: number, kind: 'check' | 'repair'): Promise<void> {
  const { paths, faults, onFile } = options;
  await writeGrowing(options, { kind, day });
  faults?.('checksums.written');
  const sealed = moveIntoPlace(paths, day);
  faults?.('checksums.renamed');
  const reason =
    kind === 'check' ? 'the day now has checksums' : 'all data derived from the rows of the day was recomputed';
  onFile({ name: basename(sealed), day: dayName(day), action: 'rewritten', reason });
}

/** Moves the new file of a sealed day to its place, durably. Returns its path. */
export function moveIntoPlace(paths: StorePaths, day: number): string {
  const sealed = dayPath(paths, day, 'sealed');
  renameSync(growingPath(paths, day), sealed);
  syncFolder(paths.days);
  return sealed;
}

/**
 * Writes a new file of a sealed day in a worker thread. Resolves once the file is complete, durable and read-only: with
 * the number of its rows, or for `purge` and `spaces` with the number of omitted rows. Throws `closed` if the store was
 * closed.
 */
export async function writeGrowing(
  { paths, signal }: Pick<ReplaceOptions, 'paths' | 'signal'>,
  task: DayTask,
): Promise<number> {
  const growing = growingPath(paths, task.day);
  const from = dayPath(paths, task.day, task.kind === 'seal' ? 'open' : 'sealed');
  let rows: number;
  try {
    rows = await runThread({ task, from, growing }, signal);
  } catch (error) {
    // Remove the incomplete file to free its space.
    removeDatabase(growing);
    throw error;
  }
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
  if (task.kind !== 'spaces' || rows > 0) chmodSync(growing, 0o444);
  return rows;
}

async function runThread(workerData: object, signal: AbortSignal): Promise<number> {
  // Modules are .js files in the compiled program but .ts files in the source tree.
  const file = new URL(`./seal-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const worker = new Worker(file, { workerData });
  const abort = (): void => void worker.terminate();
  signal.addEventListener('abort', abort);
  try {
    const ended = once(worker, 'exit').then(() => [{ code: 'closed', why: 'the sealing thread was terminated' }]);
    const [answer] = await Promise.race([once(worker, 'message'), ended]);
    return rowsOf(answer);
  } finally {
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function rowsOf(answer: unknown): number {
  const message = typeof answer === 'object' && answer !== null ? answer : {};
  if ('rows' in message && typeof message.rows === 'number') return message.rows;
  const code = 'code' in message ? String(message.code) : '';
  const why = 'why' in message ? String(message.why) : 'no response';
  throw new StoreError(isCode(code) ? code : 'unexpected', why);
}

function isCode(code: string): code is StoreErrorCode {
  return Object.hasOwn(storeErrors, code);
}
