import { formatIndex, parseDay, parseIndex } from '../../../src/archive/days/records.ts';
import type { Content } from '../forge.ts';

/**
 * Edits of single files in an in-memory archive. Each function except `setLines` throws if the archive lacks the file
 * or string to be changed.
 */

/** Returns the bytes of a file; throws if it does not exist. */
export function bytesOf(content: Content, path: string): Buffer {
  const bytes = content.get(path);
  if (!bytes) throw new Error(`the archive has no ${path}`);
  return bytes;
}

/** Returns the lines of a text file. */
export function linesOf(content: Content, path: string): string[] {
  return bytesOf(content, path).toString('utf8').trimEnd().split('\n');
}

/** Replaces the lines of a text file. */
export function setLines(content: Content, path: string, lines: readonly string[]): void {
  content.set(path, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** Flips the lowest bit of the byte at an offset. */
export function flip(content: Content, path: string, at: number): void {
  const bytes = bytesOf(content, path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

/** Replaces the first occurrence of a string in a file. */
export function replaceText(content: Content, path: string, from: string, to: string): void {
  const text = bytesOf(content, path).toString('utf8');
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  content.set(path, Buffer.from(text.replace(from, to)));
}

/** Removes the last byte of a file. */
export function truncate(content: Content, path: string): void {
  content.set(path, bytesOf(content, path).subarray(0, -1));
}

/** Removes a file, or all files below a directory. */
export function remove(content: Content, path: string): void {
  const removed = [...content.keys()].filter((name) => name === path || name.startsWith(`${path}/`));
  if (removed.length === 0) throw new Error(`the archive has no ${path}`);
  for (const name of removed) content.delete(name);
}

/** Swaps the contents of two files. */
export function swap(content: Content, a: string, b: string): void {
  const [one, two] = [bytesOf(content, a), bytesOf(content, b)];
  content.set(a, two).set(b, one);
}

/** Returns the parsed record of a day. */
export function recordOf(content: Content, day: string) {
  const record = parseDay(bytesOf(content, `days/${day}/day.json`));
  if (!record) throw new Error(`the archive has no record of ${day}`);
  return record;
}

/** Applies a change to the parsed index and writes the result. */
export function changeIndex(
  content: Content,
  change: (index: NonNullable<ReturnType<typeof parseIndex>>) => Parameters<typeof formatIndex>[0],
): void {
  const index = parseIndex(bytesOf(content, 'index.json'));
  if (!index) throw new Error('the archive has no index');
  content.set('index.json', formatIndex(change(index)));
}
