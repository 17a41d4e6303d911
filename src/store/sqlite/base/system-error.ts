import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { permissionAdvice, systemCode, systemWords } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** Store error codes by the code of a failed system call. Any other system error becomes `io_failed`. */
const codes: Readonly<Record<string, StoreErrorCode>> = {
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
export function instructed(code: StoreErrorCode, message: string, cause: unknown): StoreError {
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
  const code = codes[systemCode(error) ?? ''] ?? 'io_failed';
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
export function refusedBySystem(code: string, path: string): StoreErrorCode | null {
  if (/^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE|SHMOPEN)/.test(code)) return meaningOf(() => grow(path));
  if (code.startsWith('SQLITE_CANTOPEN')) return meaningOf(() => closeSync(openSync(path, 'r')));
  return null;
}

function meaningOf(attempt: () => void): StoreErrorCode | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return codes[systemCode(error) ?? ''] ?? null;
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
