import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';

/** Classes of system calls, numbered as in shim.c. */
const callClasses = [
  'open',
  'create',
  'read',
  'write',
  'sync',
  'truncate',
  'rename',
  'unlink',
  'mkdir',
  'link',
  'chmod',
] as const;
export type CallClass = (typeof callClasses)[number];

/** A kind of failure, with the classes of calls to which it applies. */
export interface Failure {
  readonly name: string;
  /** An errno, or `shortWrite`. */
  readonly error: number;
  readonly classes: readonly CallClass[];
}

const { EIO, ENOSPC, EDQUOT, EMFILE } = constants.errno;
/** Pseudo error number for a write of half the bytes, as in shim.c. */
const shortWrite = 10_000;
/** Classes of calls that may need space on the disk. */
const takesSpace: readonly CallClass[] = ['create', 'write', 'sync', 'truncate', 'rename', 'mkdir', 'link'];

/** All injected failures. */
export const failures: readonly Failure[] = [
  { name: 'EIO', error: EIO, classes: callClasses },
  { name: 'ENOSPC', error: ENOSPC, classes: takesSpace },
  { name: 'EDQUOT', error: EDQUOT, classes: takesSpace },
  { name: 'EMFILE', error: EMFILE, classes: ['open', 'create'] },
  { name: 'short write', error: shortWrite, classes: ['write'] },
];

/** Compiles the shim into a directory and returns the environment of a process that loads it. */
export function compileShim(directory: string): Readonly<Record<string, string>> {
  const control = join(directory, 'control');
  const library = compileLibrary(join(import.meta.dirname, 'shim.c'), directory);
  writeFileSync(control, Buffer.alloc(controlBytes));
  // Disable io_uring, because the shim cannot intercept calls that libuv submits to io_uring.
  return { LD_PRELOAD: library, ALMANAC_FAULTS: control, UV_USE_IO_URING: '0' };
}

/** Offsets in `struct control` of shim.c. */
const at = { armed: 0, nth: 4, error: 8, onwards: 12, classes: 16, count: 20, injected: 24, directory: 32, where: 512 };
/** Offset of the list of call classes in the control file. */
const seenAt = 1024;
const maxCalls = 16_384;
const controlBytes = seenAt + maxCalls;

/** System calls of a process on files below the directory, between `arm` and `disarm`. */
export interface Met {
  /** Class of each call, in order. */
  readonly calls: readonly CallClass[];
  readonly injected: number;
  /** Path of the file on which the first call failed, relative to the directory. */
  readonly where: string;
}

/** Injects failures below a directory between `arm` and `disarm`. */
export interface Injection {
  /**
   * Makes the n-th call fail, or no call if `nth` is 0. With `onwards`, later calls of the failure's classes fail as
   * well.
   */
  arm(directory: string, nth: number, failure: Failure, onwards: boolean): void;
  disarm(): Met;
}

/** Controls the shim that this process has loaded. */
export class FaultControl implements Injection {
  readonly #file: number;
  #directory = '';

  constructor(path: string) {
    this.#file = openSync(path, 'r+');
  }

  /**
   * Makes the n-th call below the directory fail. With `onwards`, every later call of the failure's classes fails as
   * well.
   */
  arm(directory: string, nth: number, failure: Failure, onwards: boolean): void {
    this.#directory = directory;
    const control = Buffer.alloc(seenAt);
    control.writeUInt32LE(nth, at.nth);
    control.writeUInt32LE(failure.error, at.error);
    control.writeUInt32LE(onwards ? 1 : 0, at.onwards);
    const classes = failure.classes.reduce((bits, name) => bits | (1 << callClasses.indexOf(name)), 0);
    control.writeUInt32LE(classes, at.classes);
    control.write(directory, at.directory);
    writeSync(this.#file, control, 4, seenAt - 4, 4);
    control.writeUInt32LE(1, at.armed);
    writeSync(this.#file, control, 0, 4, 0);
  }

  disarm(): Met {
    writeSync(this.#file, Buffer.alloc(4), 0, 4, 0);
    const control = Buffer.alloc(controlBytes);
    readSync(this.#file, control, 0, controlBytes, 0);
    const count = Math.min(control.readUInt32LE(at.count), maxCalls);
    const calls = [...control.subarray(seenAt, seenAt + count)].map((n) => callClasses[n] ?? 'open');
    const end = control.indexOf(0, at.where);
    const where = control.toString('utf8', at.where, end).slice(this.#directory.length + 1);
    return { calls, injected: control.readUInt32LE(at.injected), where };
  }

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Compiles a library that delays every sync of a file by `syncMs` milliseconds. Returns the environment of a process
 * that loads it.
 */
export function slowDisk(directory: string, syncMs: number): Readonly<Record<string, string>> {
  const library = compileLibrary(join(import.meta.dirname, 'slow-disk.c'), directory);
  return { LD_PRELOAD: library, SLOW_DISK_SYNC_MS: String(syncMs) };
}

/** Compiles a C file into a shared library in a directory. Returns the path of the library. */
function compileLibrary(source: string, directory: string): string {
  const library = join(directory, `${basename(source, '.c')}.so`);
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', library, source, '-ldl']);
  return library;
}
