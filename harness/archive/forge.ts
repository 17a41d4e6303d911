import {
  type DayLeaf,
  type DayRecord,
  formatDay,
  formatIndex,
  formatLeaf,
  type ListedDay,
  parseDay,
  parseIndex,
  pathOf,
  sha256Of,
} from '../../src/archive/days/records.ts';
import { checkpointPath, filesAfter, formatPublicKey, publicKeyPath } from '../../src/archive/log/day-log.ts';
import { leafHash, treeHash } from '../../src/archive/log/merkle.ts';
import { type SignerKey, signCheckpoint } from '../../src/archive/log/note.ts';

/** Consistent alterations of an archive that only its publisher can make. */

/** Files of an archive by path. */
export type Content = Map<string, Buffer>;

/** Returns a copy of an archive. */
export function copyOf(content: ReadonlyMap<string, Buffer>): Content {
  return new Map([...content].map(([path, bytes]) => [path, Buffer.from(bytes)]));
}

/** Returns the closed days that the index lists. */
export function closedDays(content: Content): ListedDay[] {
  return listedDays(content).filter(({ state }) => state === 'closed');
}

function listedDays(content: Content): readonly ListedDay[] {
  return parseIndex(content.get('index.json') ?? Buffer.alloc(0))?.days ?? [];
}

/** Replaces the log with a validly signed one that contains the given days, and updates the index. */
export function signDays(content: Content, days: readonly DayLeaf[], key: SignerKey): void {
  for (const path of content.keys()) if (path.startsWith('log/')) content.delete(path);
  const entries = days.map(formatLeaf);
  const leaves = entries.map(leafHash);
  for (const { path, bytes } of filesAfter(0, entries, leaves)) content.set(path, bytes);
  content.set(checkpointPath, Buffer.from(signCheckpoint({ size: days.length, root: treeHash(leaves) }, key)));
  content.set(publicKeyPath, formatPublicKey(key.verifier.text));
  const closed = days.map(({ day, sha256 }): ListedDay => ({ day, sha256, state: 'closed' }));
  const open = listedDays(content).filter(({ state }) => state === 'open');
  content.set('index.json', formatIndex({ key: key.verifier.text, days: [...closed, ...open] }));
}

/** Changes a file of a closed day, and recomputes every dependent digest and the signature. */
export function rewriteFile(
  content: Content,
  { day, name, bytes, key }: { day: string; name: string; bytes: Buffer; key: SignerKey },
): void {
  const record = recordOf(content, day);
  content.set(pathOf(day, name), bytes);
  const others = record.files.filter((file) => file.name !== name);
  const files = [...others, { name, bytes: bytes.length, sha256: sha256Of(bytes) }];
  rewriteRecord(content, { ...record, files }, key);
}

/** Replaces the record of a closed day, its log entry and the signature. */
export function rewriteRecord(content: Content, record: DayRecord, key: SignerKey): void {
  const bytes = formatDay(record);
  content.set(pathOf(record.day, 'day.json'), bytes);
  const days = closedDays(content).map((listed) =>
    listed.day === record.day ? { ...listed, sha256: sha256Of(bytes) } : listed,
  );
  signDays(content, days, key);
}

/* Edits of single files. Each function except `setLines` throws if the archive lacks the file or string to be changed. */

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
  const record = parseDay(bytesOf(content, pathOf(day, 'day.json')));
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
