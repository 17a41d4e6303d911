import { parseDay } from '../../../src/archive/days/day.ts';
import { formatIndex, parseIndex } from '../../../src/archive/days/index-file.ts';
import type { Content } from '../forge.ts';

/** Changes of single files of an archive in memory. Each throws if the archive lacks what it changes. */

/** Returns the bytes of a file. */
export function bytesOf(content: Content, path: string): Buffer {
  const bytes = content.get(path);
  if (!bytes) throw new Error(`the archive has no ${path}`);
  return bytes;
}

/** Returns the lines of a file. */
export function linesOf(content: Content, path: string): string[] {
  return bytesOf(content, path).toString('utf8').trimEnd().split('\n');
}

/** Replaces the lines of a file. */
export function setLines(content: Content, path: string, lines: readonly string[]): void {
  content.set(path, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** Changes one bit of a byte. */
export function flip(content: Content, path: string, at: number): void {
  const bytes = bytesOf(content, path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

/** Replaces the first occurrence of a text. */
export function replaceText(content: Content, path: string, from: string, to: string): void {
  const text = bytesOf(content, path).toString('utf8');
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  content.set(path, Buffer.from(text.replace(from, to)));
}

/** Removes the last byte of a file. */
export function truncate(content: Content, path: string): void {
  content.set(path, bytesOf(content, path).subarray(0, -1));
}

/** Removes a file, or the files below a directory. */
export function remove(content: Content, path: string): void {
  const removed = [...content.keys()].filter((name) => name === path || name.startsWith(`${path}/`));
  if (removed.length === 0) throw new Error(`the archive has no ${path}`);
  for (const name of removed) content.delete(name);
}

/** Exchanges two files. */
export function swap(content: Content, a: string, b: string): void {
  const [one, two] = [bytesOf(content, a), bytesOf(content, b)];
  content.set(a, two).set(b, one);
}

/** Returns the record of a day. */
export function recordOf(content: Content, day: string) {
  const record = parseDay(bytesOf(content, `days/${day}/day.json`));
  if (!record) throw new Error(`the archive has no record of ${day}`);
  return record;
}

/** Changes the index. */
export function changeIndex(
  content: Content,
  change: (index: NonNullable<ReturnType<typeof parseIndex>>) => Parameters<typeof formatIndex>[0],
): void {
  const index = parseIndex(bytesOf(content, 'index.json'));
  if (!index) throw new Error('the archive has no index');
  content.set('index.json', formatIndex(change(index)));
}
