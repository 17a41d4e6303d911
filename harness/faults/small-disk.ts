import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../src/ops/errors.ts';
import type { Failure, Injection, Met } from './shim.ts';

/** Allocation unit of tmpfs, in bytes. */
const blockBytes = 4096;

/** Placeholder for a failure that the file system itself causes, without the shim. */
export const noFailure: Failure = { name: 'file system', error: 0, classes: [] };

/** A small file system in memory, mounted for a test. Mounting requires root. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Mounts a small file system at a new directory. Prints a message and returns null if this user is not permitted to
   * mount a file system. The default size is sufficient for every operation in the tests.
   */
  static mount(path: string, megabytes = 32): SmallDisk | null {
    mkdirSync(path, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'almanac', path], { stdio: 'pipe' });
      return new SmallDisk(path);
    } catch (error) {
      process.stderr.write(`SKIPPED: this user cannot mount a file system: ${String(error).split('\n')[0] ?? ''}\n`);
      return null;
    }
  }

  /** Fills the disk, leaving the given number of blocks free. Another process may fill the disk first. */
  leave(blocks: number): void {
    const bytes = blocks === 0 ? Number.POSITIVE_INFINITY : freeBytes(this.path) - blocks * blockBytes;
    try {
      fill(join(this.path, 'filler'), bytes);
    } catch (error) {
      if (systemCode(error) !== 'ENOSPC') throw error;
    }
  }

  /** Frees the space again. */
  free(): void {
    rmSync(join(this.path, 'filler'), { force: true });
  }

  /** Removes all files. */
  empty(): void {
    for (const name of readdirSync(this.path)) rmSync(join(this.path, name), { recursive: true });
  }

  /** Returns an injection that leaves `nth - 1` free blocks while armed. */
  get full(): Injection {
    return {
      arm: (_, nth) => {
        if (nth > 0) this.leave(nth - 1);
      },
      disarm: () => {
        this.free();
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
    execFileSync('umount', ['--lazy', this.path]);
    rmSync(this.path, { recursive: true });
  }

  #remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path]);
  }
}

/** Empty record: the file system does not report which calls failed. */
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
