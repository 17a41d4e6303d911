import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode } from '../../ops/errors.ts';
import { isDay } from '../days/calendar.ts';

/** Files of an archive, by their paths relative to its directory. Every method throws the system's error on failure. */
export interface ArchiveFiles {
  /** Returns the bytes of a file; null if it does not exist. */
  read(path: string): Buffer | null;
  /**
   * Appends a complete line durably. First removes a partial line that a killed process left at the end of the file. A
   * failed append leaves no partial line behind, and no new file.
   */
  append(path: string, line: Uint8Array): void;
  /** Removes a partial line that an interrupted append left at the end of a file, or the file if it has no other line. */
  repair(path: string): void;
  /** Replaces a file atomically and durably. */
  replace(path: string, bytes: Uint8Array): void;
  /** Removes a file durably, if it exists. */
  remove(path: string): void;
  /** Returns the days that have a directory, in ascending order. */
  days(): string[];
}

const newline = 0x0a;
/** Matches the names of the temporary files that `replaceFile` creates. */
const temporary = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Opens the files of an archive in an existing directory. Removes temporary files that a killed process left there. */
export function openArchiveFiles(root: string): ArchiveFiles {
  sweep(root);
  return {
    read: (path) => readIfPresent(join(root, path)),
    append: (path, line) => append(join(root, path), line),
    repair: (path) => append(join(root, path), new Uint8Array()),
    replace: (path, bytes) => replaceFile(join(root, path), bytes),
    remove: (path) => remove(join(root, path)),
    days: () => namesIn(join(root, 'days')).filter(isDay).sort(),
  };
}

function readIfPresent(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return null;
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function sweep(root: string): void {
  const days = namesIn(join(root, 'days')).filter(isDay);
  const folders = ['.', ...days.map((day) => join('days', day)), ...foldersBelow(root, 'log')];
  for (const name of folders.flatMap((folder) => namesIn(join(root, folder)).map((one) => join(folder, one)))) {
    if (temporary.test(basename(name))) rmSync(join(root, name), { force: true });
  }
}

function foldersBelow(root: string, folder: string): string[] {
  if (statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...entries.flatMap((entry) => foldersBelow(root, join(folder, entry.name)))];
}

function append(path: string, line: Uint8Array): void {
  makeFolders(dirname(path));
  const file = openSync(path, 'a+', 0o644);
  let isEmpty = false;
  try {
    const { size } = fstatSync(file);
    const whole = wholeBytes(file, size);
    if (whole < size) ftruncateSync(file, whole);
    isEmpty = whole + line.length === 0;
    try {
      writeAll(file, line);
      fdatasyncSync(file);
    } catch (error) {
      ftruncateSync(file, whole);
      isEmpty = whole === 0;
      throw error;
    }
    if (size === 0) syncFolder(dirname(path));
  } finally {
    closeSync(file);
    // The record of a day does not list an empty file.
    if (isEmpty) remove(path);
  }
}

function remove(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

/**
 * Returns the total length of a file's complete lines, in bytes. A killed process may have left a partial last line.
 */
function wholeBytes(file: number, size: number): number {
  const chunk = Buffer.alloc(65_536);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const count = readSync(file, chunk, 0, end - start, start);
    const place = chunk.subarray(0, count).lastIndexOf(newline);
    if (place >= 0) return start + place + 1;
    end = start;
  }
  return 0;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/**
 * Replaces a file atomically: a reader sees the old bytes or the new ones, even after a crash. Creates missing
 * directories.
 */
export function replaceFile(path: string, bytes: Uint8Array, mode = 0o644): void {
  const folder = dirname(path);
  makeFolders(folder);
  const growing = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = openSync(growing, 'wx', mode);
    try {
      writeAll(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(growing, path);
  } catch (error) {
    rmSync(growing, { force: true });
    throw error;
  }
  syncFolder(folder);
}

function makeFolders(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolders(parent);
  mkdirSync(folder);
  syncFolder(parent);
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
