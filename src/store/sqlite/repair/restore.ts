import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Micros } from '../../../contract/timestamp.ts';
import { makeFolder, systemCode } from '../../../ops/errors.ts';
import { discardIdentities } from '../../common/kept-identities.ts';
import { StoreError } from '../../errors.ts';
import type { DayReport } from '../../port.ts';
import { dayName, dayOf, dayStart, type Interval, micros } from '../../time.ts';
import {
  type Faults,
  migrate,
  openWritable,
  schemaVersion,
  storeError,
  syncFolder,
  systemError,
} from '../base/connection.ts';
import {
  dayPath,
  type FileEvent,
  flush,
  listDays,
  type OnFile,
  storePaths,
  unfinishedNames,
  writerLockHeld,
} from '../base/files.ts';
import { assertSound } from '../read/lost-tail.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { stateChanges } from '../state/state.ts';
import { openSqliteWriter } from '../write/writer.ts';
import { takeStoppedStore } from './repair.ts';

/** File in the copy of a backup that contains the backup's path. */
const originName = 'origin';

/** Result of a restore. Lists no day and no gap if the call only completed an interrupted restore. */
export interface Restored {
  readonly days: readonly DayReport[];
  /**
   * Days that the backup's state file lists, but whose files are missing in the backup. A gap is recorded for each
   * of them; on the day of the restore, it ends at the restore.
   */
  readonly lost: readonly string[];
  /**
   * Interval that is recorded as a gap: from the end of the backup's data to the restore, or null if the clock is not
   * after that end.
   */
  readonly gap: Interval | null;
}

/** Options for a restore. */
export interface RestoreOptions {
  readonly from: string;
  readonly folder: string;
  /** Current time of the acceptance clock, in microseconds. */
  readonly at: Micros;
  readonly onFile?: OnFile;
  /** Called after the backup was verified, before its files are moved into place. A rejection ends the restore. */
  readonly beforeMove?: () => Promise<void>;
  readonly faults?: Faults;
}

/**
 * Restores a store from a copy of its state file and days, which may have been copied at different times. The files are
 * copied into the store's directory, completed with gaps for the time that they do not cover, verified, and then moved
 * into place. Refuses a backup with problems and leaves it unchanged. An interrupted restore leaves a directory that
 * prevents the store from being opened; the next call completes the restore. Throws `second_writer` while a writer is
 * running or the store has a standby.
 */
export async function restoreStore({
  from,
  folder,
  at,
  onFile = () => undefined,
  beforeMove = () => Promise.resolve(),
  faults,
}: RestoreOptions): Promise<Restored> {
  const paths = storePaths(folder);
  assertOwner(folder);
  makeFolder(folder);
  assertBackup(from, folder);
  const lock = takeStoppedStore(paths);
  try {
    const [copying, copied] = [join(folder, unfinishedNames.copying), join(folder, unfinishedNames.copied)];
    const isCopied = existsSync(copied);
    if (isCopied) assertSameBackup(copied, from);
    const result = isCopied ? null : await copyVerified({ from, folder, at, onFile, faults });
    if (!isCopied) {
      renameSync(copying, copied);
      syncFolder(folder);
      faults?.('restore.verified');
    }
    await beforeMove();
    moveIntoPlace(copied, folder, faults);
    return result ?? { days: [], lost: [], gap: null };
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.release();
  }
}

/**
 * Copies the backup into an unfinished directory, completes the copy and verifies it. Removes the copy if any step
 * fails; the backup remains unchanged.
 */
async function copyVerified({
  from,
  folder,
  at,
  onFile,
  faults,
}: Required<Pick<RestoreOptions, 'from' | 'folder' | 'at' | 'onFile'>> & {
  readonly faults: Faults | undefined;
}): Promise<Restored> {
  const copying = join(folder, unfinishedNames.copying);
  const discard = (): void => rmSync(copying, { recursive: true, force: true });
  assertEmpty(folder);
  // Remove the incomplete copy that an interrupted restore may have left, then copy the backup again.
  discard();
  const stale = staleLogs(from);
  const reason = 'the log is older than its database: if the backup was copied without --delete, rows may be missing';
  for (const log of stale) onFile({ ...log, action: 'left', reason });
  try {
    copyBackup(from, copying, { mode: statSync(folder).mode, onFile });
    writeFileSync(join(copying, originName), realpathSync(from), { flush: true });
    syncFolder(copying);
  } catch (error) {
    discard();
    throw error;
  }
  faults?.('restore.copied');
  return complete(copying, at, onFile).catch((error: unknown) => {
    discard();
    throw withStaleLogs(storeError(error, folder), stale);
  });
}

/** Name of a write-ahead log, and the day of its database, or null for the state file. */
type LogName = Pick<FileEvent, 'name' | 'day'>;

/**
 * Returns the write-ahead logs of a backup that are older than their databases. Such a log may precede the database;
 * SQLite applies it without noticing, and the database then lacks later rows or is damaged. A log is also older after a
 * checkpoint without a later commit, which is harmless.
 */
function staleLogs(from: string): LogName[] {
  const paths = storePaths(from);
  const days = existsSync(paths.days) ? listDays(paths) : [];
  const databases = [
    { path: paths.state, day: null },
    ...days.map(({ day, form }) => ({ path: dayPath(paths, day, form), day: dayName(day) })),
  ];
  return databases.flatMap(({ path, day }) => {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    return log && log.mtimeMs < statSync(path).mtimeMs ? [{ name: `${basename(path)}-wal`, day }] : [];
  });
}

/** Adds the probable cause to a `damaged` error if write-ahead logs of the backup are older than their databases. */
function withStaleLogs(error: unknown, stale: readonly LogName[]): unknown {
  if (!(error instanceof StoreError) || error.code !== 'damaged' || stale.length === 0) return error;
  const names = stale.map(({ name }) => name).join(', ');
  const hint = `older than their databases: ${names}; was the backup copied without --delete?`;
  return new StoreError('damaged', `${error.message}; ${hint}`, { cause: error });
}

/**
 * Throws if root would create files in another user's directory, because that user could not write to these files. A
 * missing directory belongs to the owner of the directory that will contain it.
 */
function assertOwner(folder: string): void {
  const place = existsSync(folder) ? folder : dirname(resolve(folder));
  const uid = statSync(place, { throwIfNoEntry: false })?.uid ?? 0;
  if (process.getuid?.() !== 0 || uid === 0) return;
  throw new StoreError('io_failed', `${folder} belongs to the user ${uid}: run this command as that user`);
}

function assertBackup(from: string, folder: string): void {
  const { state, lock } = storePaths(from);
  try {
    statSync(state);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw systemError(error, state);
    throw new StoreError('not_a_store', `${from} contains no state.sqlite`);
  }
  if (realpathSync(from) === realpathSync(folder)) throw new StoreError('not_a_store', `${from} is the store itself`);
  if (writerLockHeld(lock))
    throw new StoreError('second_writer', `a process is writing to the store in ${from}; stop it first`);
}

/** Throws if an interrupted restore has copied another backup, whose files are already verified. */
function assertSameBackup(copied: string, from: string): void {
  const path = join(copied, originName);
  const origin = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (origin === null || origin === realpathSync(from)) return;
  throw new StoreError('occupied', `an interrupted restore from ${origin} must be completed first: run it again`);
}

function assertEmpty(folder: string): void {
  const { days } = storePaths(folder);
  const held = [
    ...readdirSync(folder).filter((name) => name.startsWith('state.sqlite')),
    ...(existsSync(days) ? readdirSync(days) : []),
  ];
  if (held.length === 0) return;
  throw new StoreError(
    'occupied',
    `${folder} already contains ${held[0]}; move the store aside first with almanac labels new-epoch`,
  );
}

/**
 * Makes the copied state file and days consistent, records gaps for the time that they do not cover, and verifies them.
 */
async function complete(folder: string, at: Micros, onFile: OnFile): Promise<Restored> {
  const lost = forgetLostDays(folder, at);
  const writer = openSqliteWriter({ folder, at, onFile });
  try {
    const days: DayReport[] = [];
    for await (const report of writer.verify()) days.push(report);
    const bad = days.find(({ problems }) => problems.length > 0);
    if (bad) {
      const what = `${bad.day} of the backup has problems: ${bad.problems[0] ?? ''}`;
      throw new StoreError(
        'damaged',
        `${what}; almanac labels verify lists all problems, and --repair on a copy repairs some of them`,
      );
    }
    const [{ startedAt }, heartbeat, { observedThrough }] = await Promise.all([
      writer.epoch(),
      writer.heartbeat(),
      writer.frontier(),
    ]);
    // The state file and the days may have been copied at different times. Rows or gaps may be missing after the end
    // of the earlier copy, so the gap starts there.
    const start = micros(Math.max(startedAt, Math.min(heartbeat ?? startedAt, observedThrough ?? startedAt)));
    const gap = start < at ? { start, end: at } : null;
    if (gap) await writer.recordGap({ source: null, reason: 'ingest_paused', ...gap });
    return { days, lost, gap };
  } finally {
    await writer.close();
  }
}

/**
 * Removes days without a file from the copied state file, and records a gap for each: for the day of the restore, up to
 * the restore; for any other day, the whole day. Returns their names.
 */
function forgetLostDays(folder: string, at: Micros): string[] {
  const paths = storePaths(folder);
  const db = openWritable(paths.state, 1024 * 1024);
  try {
    assertSound(db);
    if (schemaVersion(db) === 0) throw new StoreError('damaged', 'the state.sqlite of the backup has no epoch');
    migrate(db, stateMigrations, new Date(at / 1000).toISOString());
    const state = stateChanges(db);
    const found = new Set(listDays(paths).map(({ day }) => day));
    const lost = state.catalog().days.filter(({ day }) => !found.has(day));
    for (const { day } of lost) {
      // The day of the restore is observed again. A later day is lost if the clock was ahead; its gap may be too long.
      const [start, end] = [dayStart(day), day === dayOf(at) ? at : dayStart(day + 1)];
      if (start < end) state.recordGap.immediate({ source: null, reason: 'unknown', start, end });
      state.forgetDay(day);
    }
    return lost.map(({ day }) => dayName(day));
  } finally {
    db.close();
  }
}

/**
 * Moves the verified files into the store. The state file is moved last, because the store can be opened as soon as it
 * exists.
 */
function moveIntoPlace(copied: string, folder: string, faults: Faults | undefined): void {
  const [source, target] = [storePaths(copied), storePaths(folder)];
  if (existsSync(source.days)) {
    if (existsSync(target.days)) rmdirSync(target.days);
    renameSync(source.days, target.days);
  }
  // The last writer of the replaced store may have left identities of rows that the restored days lack. Remove them while
  // no writer can start yet: a restored store may have the same generation, revision and last row.
  discardIdentities(target.identities);
  syncFolder(folder);
  faults?.('restore.days');
  // Move the log first: if it could not be checkpointed, it contains changes that the state file lacks, such as the gap
  // since the backup.
  for (const suffix of ['-wal', '']) {
    if (existsSync(`${source.state}${suffix}`)) renameSync(`${source.state}${suffix}`, `${target.state}${suffix}`);
  }
  syncFolder(folder);
  faults?.('restore.state');
  // Remove what the writer of the copy left, and the file with the backup's path. The days and the state file are never
  // removed: if one of them could not be moved, the directory stays, and the next call continues.
  const moved = new Set([source.days, source.state, `${source.state}-wal`]);
  for (const name of readdirSync(copied)) {
    if (!moved.has(join(copied, name))) rmSync(join(copied, name));
  }
  rmdirSync(copied);
  syncFolder(folder);
}

interface CopyOptions {
  /** Permission mode of the restored store's directory. */
  readonly mode: number;
  readonly onFile: OnFile;
}

/**
 * Copies the files of a store durably, and reports every other file in the backup's directory of days. The copies can
 * be read by all users who can read the directory of the store, such as the account view, regardless of the modes in
 * the backup and of the umask. The owner can write all copies except sealed days.
 */
function copyBackup(from: string, to: string, { mode, onFile }: CopyOptions): void {
  const [source, target] = [storePaths(from), storePaths(to)];
  for (const folder of [to, target.days]) makeDirectory(folder, mode);
  const readable = mode & 0o044;
  const copy = (path: string, copyPath: string): void => {
    closeSync(openSync(copyPath, 'wx', 0o600));
    copyFileSync(path, copyPath, constants.COPYFILE_FICLONE);
    // A copy has the mode of its original, which may be read-only.
    chmodSync(copyPath, 0o600 | readable);
    flush(copyPath);
  };
  for (const suffix of ['', '-wal']) {
    if (existsSync(`${source.state}${suffix}`)) copy(`${source.state}${suffix}`, `${target.state}${suffix}`);
  }
  for (const name of existsSync(source.days) ? readdirSync(source.days) : []) {
    if (/^\d{4}-\d{2}-\d{2}\.(open|sealed)\.sqlite(-wal|-journal)?$/.test(name)) {
      const path = join(target.days, name);
      copy(join(source.days, name), path);
      if (name.endsWith('.sealed.sqlite')) chmodSync(path, 0o444);
    } else if (!name.endsWith('-shm')) {
      onFile({ name, day: null, action: 'left', reason: 'the file is not a day file, so it is not restored' });
    }
  }
  for (const folder of [target.days, to]) syncFolder(folder);
}

/**
 * Creates a directory with the permissions of `mode`. The directory inherits the group and the set-group-ID bit of
 * its parent. The permissions are set when the directory is created: a later change of the mode would clear that bit
 * if the user does not belong to the directory's group.
 */
function makeDirectory(path: string, mode: number): void {
  const umask = process.umask(0);
  try {
    mkdirSync(path, { mode: mode & 0o777 });
  } finally {
    process.umask(umask);
  }
}
