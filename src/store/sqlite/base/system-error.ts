import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode, systemWords } from '../../../ops/errors.ts';
import { StoreError, type StoreErrorCode } from '../../errors.ts';

/** Store errors by the code of a system call's error; an error with any other code stops the process. */
const codes: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EMFILE: 'busy',
  ENFILE: 'busy',
  ENOMEM: 'busy',
};

/** Instructions for the operator, appended to the error's text and the code of SQLite or of the system. */
const instructions: Partial<Record<StoreErrorCode, string>> = {
  io_failed: 'check the disk (dmesg, smartctl) and the permissions of the directory, then start again',
  unexpected: 'start again; if it recurs, run almanac labels verify on a copy, and report this line',
};

/** Returns a store error whose message ends with the instruction for its code, if that code has an instruction. */
export function instructed(code: StoreErrorCode, message: string, cause: unknown): StoreError {
  const instruction = instructions[code];
  return new StoreError(code, instruction === undefined ? message : `${message}: ${instruction}`, { cause });
}

/** Translates an error of a system call to an error of the port; returns any other error unchanged. */
export function systemError(error: unknown, what: string): unknown {
  const isSystems = error instanceof Error && 'errno' in error && 'syscall' in error;
  if (!isSystems || error instanceof StoreError) return error;
  const code = codes[systemCode(error) ?? ''] ?? 'io_failed';
  return instructed(code, `${what}: ${String(error.syscall)}: ${systemWords(error)}`, error);
}

/**
 * Returns the store error for an ambiguous code of SQLite, determined by a probe of the file system: SQLite reports an
 * exceeded quota as a failed write, and a lack of descriptors as a file that cannot be opened. Returns null if SQLite's
 * code is specific.
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

/** Size of the probe write, in bytes; larger than the space that any file system preallocates at the end of a file. */
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
