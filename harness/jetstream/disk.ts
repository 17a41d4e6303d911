import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { atExit } from '../process/at-exit.ts';

const filler = 'filler';

/** Mounts a small file system at a new directory. Returns the function that removes it. Requires root. */
export function mountDisk(folder: string, megabytes: number): () => void {
  mkdirSync(folder);
  run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  const unmount = () => run('umount', ['--lazy', folder]);
  const keep = atExit(unmount);
  return () => {
    keep();
    unmount();
  };
}

/** Fills a file system with one file. */
export function fillDisk(folder: string): void {
  const file = openSync(join(folder, filler), 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch {
    // The disk is full.
  } finally {
    closeSync(file);
  }
}

/** Removes the file that fills a file system. */
export function freeDisk(folder: string): void {
  rmSync(join(folder, filler));
}

/** Removes all files of a file system. */
export function emptyDisk(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
}
