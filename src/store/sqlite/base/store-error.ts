import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { permissionAdvice, systemCode, systemWords } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

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
