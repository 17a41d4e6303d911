import { existsSync, readdirSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { systemCode } from '../../../ops/errors.ts';
import { discardIdentities } from '../../common/kept-identities.ts';
import { StoreError, unfinishedCopy } from '../../errors.ts';
import type { StoredGap } from '../../port.ts';
import { dayName, dayStart, type Interval, micros } from '../../time.ts';
import { isAbsent, lockWaitMs, type Sqlite, storeError, syncFolder } from '../base/connection.ts';
import { type DayForm, dayPath, listDays, type OnFile, type StorePaths, unfinishedNames } from '../base/files.ts';
import { DayReader } from '../day/day-reader.ts';
import { metaNames } from '../schema/day-schema.ts';
import type { Catalog, StateChanges } from '../state/state.ts';

/**
 * Interval in which the last commits of a day were lost. All rows of an open day may be in its write-ahead log, and
 * SQLite ignores the first damaged frame and all later frames. The loss is detected with the next day's file, which
 * records the day's last stamp.
 */
interface LostTail extends Interval {
  readonly day: number;
  /**
   * False if the file that records the day's last stamp is missing, as after a restore without this file. Commits may then
   * be lost, so that the time after the last remaining commit counts as a gap, too.
   */
  readonly isCertain: boolean;
}

/**
 * Records a gap for the lost commits of each day. The remaining rows of the day are kept. Returns true if it recorded a
 * gap. Identities that were read earlier may then include those of lost rows.
 */
export function recordLostTails(paths: StorePaths, state: StateChanges, onFile: OnFile): boolean {
  const lost = uncovered(paths, state.catalog().days, state);
  if (lost.length > 0) {
    // Remove the kept identities before the loss is recorded, because no later start detects it.
    discardIdentities(paths.identities);
    // Without this, a power failure could undo the removal but keep the record of the loss.
    syncFolder(paths.folder);
  }
  for (const { day, start, end, isCertain } of lost) {
    state.recordGap.immediate({ source: null, reason: 'unknown', start, end });
    const name = `${dayName(day)}.open.sqlite`;
    onFile({
      name,
      day: dayName(day),
      action: 'left',
      reason: isCertain
        ? 'the last commits of this day are lost; the lost time is recorded as a gap'
        : 'the file of the following day is missing, so that commits of this day may be lost; the time after its last commit is recorded as a gap',
    });
  }
  return lost.length > 0;
}

/** Throws `damaged` if a day has lost commits for which no gap is recorded. The next writer records the gap. */
export function assertNoLostTail(paths: StorePaths, days: Catalog['days'], state: GapQueries): void {
  const [lost] = uncovered(paths, days, state);
  if (!lost) return;
  const verb = lost.isCertain ? 'are' : 'may be';
  throw new StoreError(
    'damaged',
    `the last commits of ${dayName(lost.day)} ${verb} lost; the next writer records the gap: ${remedy}`,
  );
}

interface GapQueries {
  gaps(interval: Interval): StoredGap[];
}

function uncovered(paths: StorePaths, days: Catalog['days'], state: GapQueries): LostTail[] {
  return lostTails(paths, days).filter(
    ({ start, end }) =>
      !state.gaps({ start, end }).some((gap) => gap.source === null && gap.start <= start && gap.end >= end),
  );
}

function lostTails(paths: StorePaths, days: Catalog['days']): LostTail[] {
  const found: LostTail[] = [];
  for (const [at, { day, sealed }] of days.entries()) {
    const next = days[at + 1];
    // Skip sealed days, because their checksums detect lost rows.
    if (sealed === 1 || next === undefined) continue;
    const ends = read(paths, { day, sealed }, (reader) => reader.ends());
    const carried = read(paths, next, (reader) => ({
      last: reader.meta(metaNames.carriedLast),
      through: reader.meta(metaNames.carriedThrough),
    }));
    if (!ends || !carried) continue;
    const [last, through] = [ends.last ?? 0, ends.through ?? 0];
    if (last >= (carried.last ?? 0) && through >= (carried.through ?? 0)) continue;
    const start = Math.max(dayStart(day), Math.min(last + 1, through));
    // The stamps that a file carries over are those of the day whose file was the newest when it was created.
    const isCertain = Math.max(carried.last ?? 0, carried.through ?? 0) < dayStart(day + 1);
    found.push({ day, isCertain, start: micros(start), end: dayStart(day + 1) });
  }
  return found;
}

/** Reads a day's file. Returns null if the day was sealed or dropped after it was listed. */
function read<T>(paths: StorePaths, { day, sealed }: { day: number; sealed: number }, work: (reader: DayReader) => T) {
  const form = sealed === 1 ? 'sealed' : 'open';
  let reader: DayReader | null = null;
  try {
    reader = new DayReader(dayPath(paths, day, form), day, form);
    return work(reader);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  } finally {
    reader?.close();
  }
}

/** Instructions for the operator if the state file and the day files do not match. */
export const remedy =
  'almanac labels restore FROM restores a backup; almanac labels new-epoch moves the days aside and begins a new store';

/**
 * Throws `damaged` if the state file is missing or empty although day files or its log exist, because a new state file
 * must never be created for existing days. Also throws if a move, a restore or a copy of the store was interrupted; see
 * `assertNoInterruptedMove`.
 */
export function assertStateFile(paths: StorePaths): void {
  const size = statSync(paths.state, { throwIfNoEntry: false })?.size;
  if (existsSync(paths.folder)) assertNoInterruptedMove(paths.folder);
  if ((size ?? 0) > 0) return;
  const log = statSync(`${paths.state}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > 0)
    throw new StoreError('damaged', `${paths.folder} contains the log of state.sqlite but no state.sqlite: ${remedy}`);
  refuse(paths, size === undefined ? 'state.sqlite is missing' : 'state.sqlite is empty');
}

/** Throws `damaged` if day files exist but the state file has no epoch, because its content or its log was lost. */
export function assertStateBegun(paths: StorePaths, hasEpoch: boolean): void {
  if (!hasEpoch) refuse(paths, 'state.sqlite has no epoch');
}

/**
 * Throws `damaged` if the newest readable day and the state file have different generations, because one of the two
 * files then belongs to another store.
 */
export function assertOneGeneration(
  paths: StorePaths,
  generation: string,
  forms: readonly DayForm[] = ['open', 'sealed'],
): void {
  if (!existsSync(paths.days)) return;
  for (const { day, form } of listDays(paths).reverse()) {
    if (!forms.includes(form)) continue;
    const path = dayPath(paths, day, form);
    const content = contentIfReadable(path);
    if (content?.kind !== 'day') continue;
    if (content.generation === generation) return;
    throw new StoreError('damaged', `${path} belongs to another generation of the store: ${remedy}`);
  }
}

/**
 * Returns the content of a day's file, or null if the file cannot be read now, for example because it is locked or was
 * removed. A later read reports the error.
 */
function contentIfReadable(path: string): DayContent | null {
  try {
    return dayContent(path, false);
  } catch (error) {
    const known = storeError(error, path);
    if (known instanceof StoreError) return null;
    throw error;
  }
}

/** Throws `damaged` if SQLite detects corruption in the state file. */
export function assertSound(db: Sqlite): void {
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new StoreError('damaged', `${db.name}: ${String(found)}: ${remedy}`);
}

function refuse(paths: StorePaths, why: string): void {
  const days = existsSync(paths.days) ? [...new Set(listDays(paths).map(({ day }) => dayName(day)))] : [];
  if (days.length === 0) return;
  const [first, last] = [days[0], days.at(-1)];
  const which = days.length === 1 ? `the day ${first} exists` : `${days.length} days exist, ${first} to ${last}`;
  throw new StoreError('damaged', `${why} in ${paths.folder}, and ${which}: ${remedy}`);
}

/**
 * Content of a file that is named like a day file:
 *
 * - `day`: a day of the store with this generation;
 * - `unfinished`: a new day whose creation was interrupted, without any rows;
 * - `foreign`: a database of another application;
 * - `unreadable`: a file that is not a database, a damaged database, or a database with rows but no generation.
 */
export type DayContent =
  | { readonly kind: 'day'; readonly generation: string }
  | { readonly kind: 'unfinished' | 'foreign' }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Determines the kind of a file that is named like a day file from its content. With `mayWrite`, also rolls back an
 * unfinished transaction.
 */
export function dayContent(path: string, mayWrite: boolean): DayContent {
  try {
    return look(path, true);
  } catch (error) {
    // A rollback journal exists only until the first change to a new file, which enables the write-ahead log.
    const isHot = mayWrite && systemCode(error) === 'SQLITE_READONLY_ROLLBACK';
    try {
      if (isHot) return look(path, false);
    } catch (second) {
      return unreadable(second, path);
    }
    return unreadable(error, path);
  }
}

function look(path: string, readonly: boolean): DayContent {
  const db = new Database(path, { readonly, fileMustExist: true, timeout: lockWaitMs });
  try {
    const tables = new Set(db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all());
    if (tables.size === 0) return { kind: 'unfinished' };
    if (!tables.has('meta') || !tables.has('observation')) return { kind: 'foreign' };
    const generation = db.prepare<[string], unknown>('SELECT value FROM meta WHERE name = ?').pluck();
    const found = generation.get(metaNames.generation);
    if (typeof found === 'string') return { kind: 'day', generation: found };
    return isEmpty(db) ? { kind: 'unfinished' } : { kind: 'unreadable', why: 'the file has rows but no generation' };
  } finally {
    db.close();
  }
}

function isEmpty(db: Sqlite): boolean {
  const anyRow = 'SELECT 1 FROM observation UNION ALL SELECT 1 FROM refusal UNION ALL SELECT 1 FROM position LIMIT 1';
  return db.prepare(anyRow).get() === undefined;
}

function unreadable(error: unknown, path: string): DayContent {
  const known = storeError(error, path);
  if (known instanceof StoreError && known.code === 'damaged') return { kind: 'unreadable', why: known.message };
  throw known;
}

/**
 * Throws `damaged` if a move of the store's files was interrupted, which leaves the directory incomplete, and
 * `unfinished_copy` if the directory is the target of an unfinished copy.
 */
function assertNoInterruptedMove(folder: string): void {
  const found = readdirSync(folder).find((name) => name.endsWith(unfinishedNames.suffix));
  if (found === undefined) return;
  if (found === unfinishedNames.storeCopy) throw unfinishedCopy(folder);
  const again = found === unfinishedNames.copying || found === unfinishedNames.copied ? 'restore FROM' : 'new-epoch';
  throw new StoreError(
    'damaged',
    `${folder}/${found} belongs to an interrupted command: run almanac labels ${again} again`,
  );
}
