import { join } from 'node:path';
import { compileLibrary } from './compile-library.ts';

/**
 * Compiles a library that delays every sync of a file by `syncMs` milliseconds. Returns the environment of a process
 * that loads it.
 */
export function slowDisk(directory: string, syncMs: number): Readonly<Record<string, string>> {
  const library = compileLibrary(join(import.meta.dirname, 'slow-disk.c'), directory);
  return { LD_PRELOAD: library, SLOW_DISK_SYNC_MS: String(syncMs) };
}
