import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure, Injection, Met } from './shim.ts';

/** Size of the file system, in bytes; larger than any operation of the tests requires. */
const diskBytes = 32 * 1024 * 1024;
/** Unit of allocation of tmpfs, in bytes. */
const blockBytes = 4096;

/** A failure that the file system causes without an injected error. */
export const noFailure: Failure = { name: 'file system', error: 0, classes: [] };

/** A small file system in memory that is mounted for one test. Mounting requires root. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts a file system at a new directory. Returns null and prints a message if the system does not permit it. */
  static mount(path: string): SmallDisk | null {
    mkdirSync(path, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes},mode=0700`, 'almanac', path], { stdio: 'pipe' });
      return new SmallDisk(path);
    } catch (error) {
      process.stderr.write(`SKIPPED: no file system can be mounted here: ${String(error).split('\n')[0] ?? ''}\n`);
      return null;
    }
  }

  /** Returns an injection that leaves `nth - 1` free blocks while armed. */
  get full(): Injection {
    const filler = join(this.path, 'filler');
    return {
      arm: (_, nth) => {
        if (nth > 0) fill(filler, freeBytes(this.path) - (nth - 1) * blockBytes);
      },
      disarm: () => {
        rmSync(filler, { force: true });
        return met;
      },
    };
  }

  /** Returns an injection that makes the file system read-only while armed. */
  get readOnly(): Injection {
    return {
      arm: (_, nth) => {
        if (nth > 0) this.#remount('ro');
      },
      disarm: () => {
        this.#remount('rw');
        return met;
      },
    };
  }

  unmount(): void {
    execFileSync('umount', [this.path]);
    rmSync(this.path, { recursive: true });
  }

  #remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path]);
  }
}

/** The file system does not report the failed calls; the count is a constant. */
const met: Met = { calls: [], injected: 1, where: '' };

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function fill(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(blockBytes);
  try {
    for (let written = 0; written < bytes; )
      written += writeSync(file, block, 0, Math.min(blockBytes, bytes - written));
  } finally {
    closeSync(file);
  }
}
