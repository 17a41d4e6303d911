import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { permissionAdvice, systemCode, systemWords } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** An open SQLite database. */
export type Sqlite = Database.Database;

/** Identifier of the files of this program (`PRAGMA application_id`): "Alma". */
export const applicationId = 0x416c6d61;
/** Page size of every database file, in bytes. */
export const pageBytes = 4_096;
/** Size in bytes to which a larger write-ahead log is truncated when SQLite restarts it. */
const journalSizeLimit = 16 * 1024 * 1024;
/** Size of the write-ahead log, in pages, after which a commit triggers a checkpoint: 16 MB. */
const checkpointPages = 4_000;
/** Maximum time to wait for a short lock of another process, in milliseconds. */
export const lockWaitMs = 2_000;

type PragmaValue = string | number;

/**
 * Opens a file for writing, and creates it if it does not exist. The file uses a write-ahead log. Every commit is
 * durable unless `durable` is false.
 */
export function openWritable(path: string, cacheBytes: number, durable = true): Sqlite {
  const db = open(path, { timeout: lockWaitMs });
  try {
    setPragma(db, 'journal_mode', 'wal');
    setPragma(db, 'synchronous', durable ? 2 : 0);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    // Do not spill pages: a spilled page would be written to the log twice, but the calculation of the log size counts
    // it once.
    db.pragma('cache_spill = 0');
    setPragma(db, 'journal_size_limit', journalSizeLimit);
    setPragma(db, 'wal_autocheckpoint', checkpointPages);
    setPragma(db, 'trusted_schema', 0);
    setPragma(db, 'cell_size_check', 1);
    assertPragma(db, 'page_size', pageBytes);
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return db;
}

/** Opens a file read-only, while another connection may write to it. */
export function openReadonly(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: lockWaitMs });
  return settled(db, path, cacheBytes);
}

/**
 * Opens a file that never changes again. The database driver does not support `immutable`. Instead, the connection
 * keeps the shared lock of its first query, so that later queries need not check for locks, a journal or changes.
 */
export function openImmutable(path: string, cacheBytes: number): Sqlite {
  const db = open(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    assertNoLog(path);
    setPragma(db, 'locking_mode', 'exclusive');
    assertPragma(db, 'journal_mode', 'delete');
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
  return settled(db, path, cacheBytes);
}

/**
 * Throws `pragma_refused` if the header of a file states that the file has a write-ahead log. SQLite would try to lock
 * that log, and report a failing disk. A file that another process has removed is left to `settled`.
 */
function assertNoLog(path: string): void {
  if (!existsSync(path)) return;
  // Offsets 18 and 19 contain the versions for writing and reading; 2 means a write-ahead log (SQLite, "Database File Format").
  const versions = Buffer.alloc(2);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, versions, 0, 2, 18);
  } finally {
    closeSync(descriptor);
  }
  if (versions.includes(2)) throw new StoreError('pragma_refused', `${path}: the header names a write-ahead log`);
}

/**
 * Configures a read-only connection and reads the header of the file. Throws `not_a_store` if another process has
 * removed or renamed the file since this connection opened it. Exported for its test.
 */
export function settled(db: Sqlite, path: string, cacheBytes: number): Sqlite {
  try {
    setPragma(db, 'query_only', 1);
    setPragma(db, 'temp_store', 2);
    setPragma(db, 'cache_size', -Math.round(cacheBytes / 1024));
    setPragma(db, 'trusted_schema', 0);
    setPragma(db, 'cell_size_check', 1);
    assertPragma(db, 'application_id', applicationId);
  } catch (error) {
    db.close();
    throw existsSync(path) ? storeError(error, path) : new StoreError('not_a_store', `${path} was removed`);
  }
  return db;
}

function open(path: string, options: Database.Options): Sqlite {
  if (!existsSync(dirname(path))) throw new StoreError('not_a_store', `the directory of ${path} does not exist`);
  try {
    return new Database(path, options);
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Sets a pragma and verifies its value, because SQLite silently ignores values that it cannot apply. */
export function setPragma(db: Sqlite, name: string, value: PragmaValue): void {
  db.pragma(`${name} = ${value}`);
  assertPragma(db, name, value);
}

/** Throws `pragma_refused` if a pragma does not have the required value. */
export function assertPragma(db: Sqlite, name: string, expected: PragmaValue): void {
  const found = db.pragma(name, { simple: true });
  if (found !== expected) {
    throw new StoreError(
      'pragma_refused',
      `${db.name}: the pragma ${name} is ${String(found)}, but ${expected} is required`,
    );
  }
}

/** Makes changes to a directory's entries durable: creations, renames and removals. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Store error codes by SQLite result code; the first match applies. */
const codes: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^SQLITE_(FULL|IOERR_SHMSIZE)/, 'disk_full'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
  // A reader without write permission depends on the log index that a writer maintains, so it must wait until a writer
  // runs.
  [/^SQLITE_READONLY_(DIRECTORY|CANTINIT|RECOVERY|CANTLOCK)/, 'busy'],
  [/^SQLITE_CANTOPEN/, 'not_a_store'],
  // Only these codes prove that the content of a file is wrong.
  [/^SQLITE_(NOTADB|CORRUPT|IOERR_(CORRUPTFS|DATA))/, 'damaged'],
  [/^SQLITE_(IOERR|READONLY|PERM)/, 'io_failed'],
];

/** Converts errors of SQLite and of the system to store errors; returns any other error unchanged. */
export function storeError(error: unknown, what: string): unknown {
  if (!(error instanceof Database.SqliteError)) return systemError(error, what);
  const known = refusedBySystem(error.code, what) ?? codes.find(([pattern]) => pattern.test(error.code))?.[1];
  return instructed(known ?? 'unexpected', `${what}: ${error.message} (${error.code})`, error);
}

/** Returns true if the error means that the file does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'not_a_store';
}

/** Store error codes by the code of a failed system call. Any other system error becomes `io_failed`. */
const systemCodes: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EMFILE: 'busy',
  ENFILE: 'busy',
  ENOMEM: 'busy',
};

/** Instructions for the operator, which are appended to error messages. */
const instructions: Partial<Record<StoreErrorCode, string>> = {
  io_failed: 'check the disk (dmesg, smartctl) and the permissions of the directory, then start the process again',
  unexpected:
    'start the process again; if the error recurs, run almanac labels verify on a copy of the store and report this line',
};

/** Creates a store error. The message ends with the instruction for the code, if there is one. */
function instructed(code: StoreErrorCode, message: string, cause: unknown): StoreError {
  const instruction = instructions[code];
  return new StoreError(code, instruction === undefined ? message : `${message}: ${instruction}`, { cause });
}

/**
 * Converts the error of a system call to a store error. The message names the file of the call, or `what` if the
 * error contains no path. Returns any other error unchanged.
 */
export function systemError(error: unknown, what: string): unknown {
  const isSystems = error instanceof Error && 'errno' in error && 'syscall' in error;
  if (!isSystems || error instanceof StoreError) return error;
  const code = systemCodes[systemCode(error) ?? ''] ?? 'io_failed';
  const path = 'path' in error && typeof error.path === 'string' ? error.path : what;
  const message = `${path}: ${String(error.syscall)}: ${systemWords(error)}`;
  // A missing permission is not a disk error, and therefore has different advice.
  const advice = permissionAdvice(error);
  if (advice === null) return instructed(code, message, error);
  return new StoreError(code, `${message}: ${advice}`, { cause: error });
}

/**
 * Determines the store error code for an ambiguous SQLite code by probing the file system: SQLite reports an exceeded
 * quota as a failed write, and a lack of file descriptors as a file that cannot be opened. Returns null if the SQLite
 * code is specific, or if the probe does not find the cause.
 */
function refusedBySystem(code: string, path: string): StoreErrorCode | null {
  if (/^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE|SHMOPEN)/.test(code)) return meaningOf(() => grow(path));
  if (code.startsWith('SQLITE_CANTOPEN')) return meaningOf(() => closeSync(openSync(path, 'r')));
  return null;
}

function meaningOf(attempt: () => void): StoreErrorCode | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return systemCodes[systemCode(error) ?? ''] ?? null;
  }
}

/** Size of the probe file in bytes; larger than the space that any file system preallocates at the end of a file. */
const probeBytes = 64 * 1024;

function grow(path: string): void {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const probe = join(folder, `.probe-${randomBytes(6).toString('hex')}`);
  const file = openSync(probe, 'wx', 0o600);
  try {
    writeSync(file, Buffer.alloc(probeBytes));
    fsyncSync(file);
  } finally {
    closeSync(file);
    rmSync(probe, { force: true });
  }
}

/** One step of a schema migration. Versions start at 1 and increase by one. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const table = `CREATE TABLE IF NOT EXISTS migration(
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT`;

/** Returns the schema version of a file, or 0 for a new file. */
export function schemaVersion(db: Sqlite): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Migrates a file to the newest schema version. Each step is one transaction, so that a crash leaves the file at a
 * defined version. Throws `schema_newer` if a newer program wrote the file, and `not_a_store` if it is not an Almanac
 * file.
 */
export function migrate(db: Sqlite, migrations: readonly Migration[], appliedAt: string, faults?: Faults): void {
  const version = schemaVersion(db);
  const application = Number(db.pragma('application_id', { simple: true }));
  if (version !== 0 && application !== applicationId)
    throw new StoreError('not_a_store', `${db.name} is not an Almanac file`);
  assertKnown(db, migrations);
  for (const step of migrations.filter((candidate) => candidate.version > version)) {
    db.transaction(() => {
      db.exec(table);
      db.exec(step.sql);
      faults?.('migrate.changed');
      db.prepare('INSERT INTO migration(version, name, applied_at) VALUES (?, ?, ?)').run(
        step.version,
        step.name,
        appliedAt,
      );
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${step.version}`);
      faults?.('migrate.recorded');
    }).immediate();
    faults?.('migrate.committed');
  }
}

/** Throws unless this program supports the schema version of the file. */
export function assertKnown(db: Sqlite, migrations: readonly Migration[]): void {
  const version = schemaVersion(db);
  const newest = migrations.length;
  if (version > newest) {
    throw new StoreError(
      'schema_newer',
      `${db.name} has schema version ${version}, but this program supports at most ${newest}`,
    );
  }
}

/**
 * Points at which a test may interrupt the store: a hook throws an error or ends the process. Production code passes no
 * hook.
 */
export const faultPoints = [
  'migrate.changed',
  'migrate.recorded',
  'migrate.committed',
  'append.rows',
  'append.counters',
  'append.positions',
  'append.committed',
  'rollover.made',
  'rollover.created',
  'seal.written',
  'seal.renamed',
  'seal.recorded',
  'expire.floor',
  'purge.begun',
  'purge.removed',
  'purge.emptied',
  'purge.written',
  'purge.renamed',
  'purge.recorded',
  'checksums.written',
  'checksums.renamed',
  'new-epoch.begun',
  'new-epoch.days',
  'new-epoch.state',
  'restore.copied',
  'restore.verified',
  'restore.days',
  'restore.state',
] as const;

type FaultPoint = (typeof faultPoints)[number];

/** Hook that is called whenever a fault point is reached. */
export type Faults = (point: FaultPoint) => void;
