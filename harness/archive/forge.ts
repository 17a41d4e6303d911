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
  const record = parseDay(content.get(pathOf(day, 'day.json')) ?? Buffer.alloc(0));
  if (!record) throw new Error('the archive has no record of the day');
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
