import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../errors.ts';
import type { DayReport } from '../../port.ts';
import type { StoreInspection } from '../../standby/standby.ts';
import { dayName } from '../../time.ts';
import {
  assertKnown,
  type Faults,
  migrate,
  openReadonly,
  openWritable,
  type Sqlite,
  schemaVersion,
  storeError,
  syncFolder,
} from '../base/connection.ts';
import {
  type DayForm,
  dayPath,
  listDays,
  type OnFile,
  type StorePaths,
  silent,
  storePaths,
  takeWriterLock,
  unfinishedNames,
  type WriterLock,
  writerLockHeld,
} from '../base/files.ts';
import { DayReader } from '../day/day-reader.ts';
import { recountLabelers } from '../labeler/stored-counters.ts';
import { assertOneGeneration, assertSound, assertStateBegun, assertStateFile } from '../read/lost-tail.ts';
import { unreadableDay, verifyDay } from '../read/verify.ts';
import { countsSql, hasChecksums, targetSql } from '../schema/day-schema.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges, stateQueries } from '../state/state.ts';
import { recoverDays, replaceDay } from '../upkeep/maintenance.ts';

/** Result of repairing a day. */
export interface RepairReport {
  /** Report of the day after the repair. It lists the problems that the repair could not correct. */
  readonly day: DayReport;
  /** Problems that were repaired. */
  readonly repaired: readonly string[];
}

/** Options for repairing a store. */
export interface RepairOptions {
  readonly folder: string;
  readonly onFile?: OnFile;
  readonly faults?: Faults;
}

/**
 * Takes the locks of the writer and of the standby to replace or repair a store. Throws `second_writer` also if the store
 * has a standby, even a suspended one: it would take over with the identities of the replaced rows.
 */
export function takeStoppedStore(paths: StorePaths): WriterLock {
  const lock = takeWriterLock(paths.lock);
  try {
    const standby = takeWriterLock(paths.standbyLock);
    return {
      release: () => {
        standby.release();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    if (!(error instanceof StoreError && error.code === 'second_writer')) throw error;
    throw new StoreError('second_writer', 'a standby of this store is running; stop it first', { cause: error });
  }
}

/** Parts of a sealed day that cannot be derived from its rows. */
const underived: readonly string[] = ['observation', 'source', 'val', 'collection', 'refusal', 'position', 'meta'];

/**
 * Rebuilds the list of days in the state file and, for each day that has problems or lacks checksums, the data that is
 * derived from rows: counters, groups, filters and checksums. Leaves a day unchanged if its rows or other data that
 * cannot be derived are damaged. Never changes a row. Yields a report of each day, oldest first. Throws `second_writer`
 * while a writer is running or the store has a standby.
 */
export async function* repairStore({ folder, onFile = silent, faults }: RepairOptions): AsyncGenerator<RepairReport> {
  const paths = storePaths(folder);
  assertStateFile(paths);
  const lock = takeStoppedStore(paths);
  let db: Sqlite | null = null;
  try {
    db = openWritable(paths.state, 1024 * 1024);
    assertSound(db);
    if (schemaVersion(db) === 0) throw new StoreError('not_a_store', `the store in ${folder} was never initialized`);
    migrate(db, stateMigrations, new Date().toISOString(), faults);
    const state = stateChanges(db);
    recoverDays(paths, state, onFile);
    const { generationId } = state.epoch();
    for (const { day, sealed } of state.catalog().days) {
      const form: DayForm = sealed === 1 ? 'sealed' : 'open';
      const path = dayPath(paths, day, form);
      const look = () => reportOf(path, day, form, generationId);
      const before = look();
      if (before.report.problems.length === 0 && !before.report.unverified) {
        yield { day: before.report, repaired: [] };
        continue;
      }
      if (before.isDerivable) {
        if (form === 'open') recount(path);
        else await replaceDay({ paths, faults, onFile, signal: new AbortController().signal }, day, 'repair');
      }
      const { report } = look();
      yield { day: report, repaired: before.report.problems.filter((problem) => !report.problems.includes(problem)) };
    }
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    db?.close();
    lock.release();
  }
}

function reportOf(path: string, day: number, form: DayForm, generation: string) {
  let reader: DayReader | null = null;
  try {
    reader = new DayReader(path, day, form);
    const { report, isComplete } = verifyDay(reader, generation);
    if (!isComplete || reader.fileProblems().length > 0) return { report, isDerivable: false };
    const altered = [...reader.checksumProblems()].some(({ part }) => underived.includes(part));
    return { report, isDerivable: !altered };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { report: unreadableDay(day, form === 'sealed', error), isDerivable: false };
  } finally {
    reader?.close();
  }
}

/** Recomputes the counters of an open day in one transaction, including the stored counts of hot accounts. */
function recount(path: string): void {
  const db = openWritable(path, 32 * 1024 * 1024);
  try {
    db.transaction(() => {
      db.exec(`
        DELETE FROM counter_minute;
        INSERT INTO counter_minute(minute, source, applied, removed)
          SELECT id / 60000000, source, ${countsSql} FROM observation GROUP BY 1, 2;
        DELETE FROM counter_hour;
        INSERT INTO counter_hour(hour, source, applied, removed)
          SELECT minute / 60, source, sum(applied), sum(removed) FROM counter_minute GROUP BY 1, 2;`);
      recountOpenDay(db);
      recountLabelers(db);
    }).immediate();
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}

/**
 * Recomputes the stored counts of an open day for the subjects that already have stored counts, in the caller's
 * transaction. Other hot subjects may get counts when their next rows are added.
 */
function recountOpenDay(db: Sqlite): void {
  db.exec(`
    CREATE TEMP TABLE kept AS SELECT DISTINCT subject FROM busy;
    DELETE FROM busy;
    INSERT INTO busy SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM observation
      WHERE subject IN (SELECT subject FROM kept) GROUP BY subject, source, val, target;
    DROP TABLE kept;`);
}

/**
 * Inspects the store in a directory, whether or not a writer is running, without changing the directory. If no
 * process has the store open, the inspection reads a copy, because SQLite would otherwise create files of the
 * inspecting user next to the database. Throws a `StoreError`: `not_a_store`, `schema_newer`, `damaged`, `busy`, or
 * `io_failed` if the directory may not be read.
 */
export function inspectStore(folder: string): StoreInspection {
  const paths = storePaths(folder);
  assertStateFile(paths);
  // Use `statSync`, because `existsSync` would report an inaccessible file as missing.
  if (!statSync(paths.state, { throwIfNoEntry: false })) {
    throw new StoreError('not_a_store', `${folder} contains no store`);
  }
  const writing = writerLockHeld(paths.lock);
  try {
    return writing ? inspect(paths, paths.state, writing) : inspectCopy(paths);
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Inspects a copy of the state file and its log. The index of the log is not copied, because SQLite rebuilds it. */
function inspectCopy(paths: StorePaths): StoreInspection {
  const copies = mkdtempSync(join(tmpdir(), 'almanac-inspect-'));
  try {
    const copy = join(copies, 'state.sqlite');
    copyFileSync(paths.state, copy);
    if (existsSync(`${paths.state}-wal`)) copyFileSync(`${paths.state}-wal`, `${copy}-wal`);
    return inspect(paths, copy, false);
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

function inspect(paths: StorePaths, state: string, writing: boolean): StoreInspection {
  const db = openReadonly(state, 1024 * 1024);
  try {
    assertKnown(db, stateMigrations);
    const schema = schemaVersion(db);
    if (schema === 0) assertStateBegun(paths, false);
    if (schema === 0) throw new StoreError('not_a_store', `the store in ${paths.folder} was never initialized`);
    assertSound(db);
    const queries = stateQueries(db);
    assertStateBegun(paths, queries.hasEpoch());
    // Open only sealed days: SQLite would create files next to an open day.
    assertOneGeneration(paths, queries.generation(), ['sealed']);
    const { days } = queries.catalog();
    const files = new Set(listDays(paths).map(({ day }) => day));
    return {
      schema,
      epoch: queries.epoch(),
      heartbeat: queries.heartbeat(),
      writing,
      sealedDays: days.filter(({ sealed }) => sealed === 1).length,
      openDays: days.filter(({ sealed }) => sealed !== 1).length,
      missingDays: days.filter(({ day }) => !files.has(day)).map(({ day }) => dayName(day)),
      pendingPurges: queries.purges().filter(({ completedAt }) => completedAt === null),
      unverifiedDays: days
        .filter(({ day, sealed }) => sealed === 1 && files.has(day) && !hasChecksums(dayPath(paths, day, 'sealed')))
        .map(({ day }) => dayName(day)),
      bytes: sizeOf(paths.folder) + sizeOf(paths.days),
    };
  } finally {
    db.close();
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** Result of moving a store aside: the moved files and their new directory. */
export interface SetAside {
  readonly directory: string;
  /** Names of the moved files; day files have the prefix `days/`. */
  readonly moved: readonly string[];
}

const prefix = 'set-aside-';

/**
 * Moves the days and the state file of a store into a dated subdirectory, so that the next writer begins a new epoch.
 * Deletes nothing. An interrupted move leaves a directory with the suffix `.unfinished`, which prevents the store from
 * being opened; the next call completes the move. Throws `second_writer` while a writer is running or the store has a
 * standby, `damaged` if a restore must be completed first, and `not_a_store` if the directory does not exist. Returns
 * null if the directory contains nothing to move.
 */
export function setStoreAside(folder: string, at: Date, faults?: Faults): SetAside | null {
  const paths = storePaths(folder);
  if (!existsSync(folder)) throw new StoreError('not_a_store', `the directory ${folder} does not exist`);
  const lock = takeStoppedStore(paths);
  try {
    const names = readdirSync(folder);
    if (names.includes(unfinishedNames.copied)) {
      throw new StoreError('damaged', 'a restore was interrupted: first run almanac labels restore FROM again');
    }
    const begun = names.find((name) => name.startsWith(prefix) && name.endsWith(unfinishedNames.suffix));
    const days = existsSync(paths.days) ? readdirSync(paths.days) : [];
    const state = names.filter((name) => name.startsWith('state.sqlite'));
    const isCopy = names.includes(unfinishedNames.storeCopy);
    const isCopying = names.includes(unfinishedNames.copying);
    if (begun === undefined && days.length === 0 && state.length === 0 && !isCopying && !isCopy) return null;
    foldLog(paths.state);
    const temporary = join(folder, begun ?? freeName(folder, at) + unfinishedNames.suffix);
    if (begun === undefined) mkdirSync(temporary);
    syncFolder(folder);
    faults?.('new-epoch.begun');
    if (existsSync(paths.days) && !existsSync(join(temporary, 'days'))) renameSync(paths.days, join(temporary, 'days'));
    syncFolder(temporary);
    syncFolder(folder);
    faults?.('new-epoch.days');
    if (isCopying) renameSync(join(folder, unfinishedNames.copying), join(temporary, 'restore-copy'));
    // Move the marker of an unfinished copy only after the days: without it, the directory would count as a store.
    const copy = join(folder, unfinishedNames.storeCopy);
    if (existsSync(copy)) renameSync(copy, join(temporary, 'store-copy'));
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      const file = `${paths.state}${suffix}`;
      if (existsSync(file)) renameSync(file, join(temporary, `state.sqlite${suffix}`));
    }
    syncFolder(temporary);
    syncFolder(folder);
    faults?.('new-epoch.state');
    const directory = temporary.slice(0, -unfinishedNames.suffix.length);
    renameSync(temporary, directory);
    syncFolder(folder);
    const moved = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name !== 'days');
    return { directory, moved: moved.sort() };
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.release();
  }
}

/**
 * Checkpoints the log into the state file. If the state file is damaged, leaves both unchanged, so that they are moved
 * together.
 */
function foldLog(state: string): void {
  if (!existsSync(state)) return;
  try {
    const db = openWritable(state, 1024 * 1024);
    db.close();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function freeName(folder: string, at: Date): string {
  const name = `${prefix}${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    if (!existsSync(join(folder, candidate))) return candidate;
  }
}
