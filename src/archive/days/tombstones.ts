import { canonicalJson } from '../../contract/encodings.ts';
import { isDay } from './calendar.ts';
import { type ListedFile, parseFile } from './day.ts';
import { parsedObject } from './json.ts';

/** Name of the file with the tombstones of a day. */
export const tombstoneFile = 'withdrawn.json';
/** Schema of the tombstones. */
const tombstoneSchema = 'almanac.archive.withdrawn/v1';
/** Maximum length of the reason for a withdrawal, in characters. */
export const maxReasonLength = 300;

/**
 * Record of a withdrawn file. It keeps the length and digest, because the record of the closed day still lists the
 * file.
 */
export interface Tombstone extends ListedFile {
  /** Time of the withdrawal. */
  readonly withdrawn_at: string;
  readonly reason: string;
}

/** Returns the bytes of the tombstones of a day. */
export function formatTombstones(day: string, files: readonly Tombstone[]): Buffer {
  return Buffer.from(`${canonicalJson({ schema: tombstoneSchema, day, files })}\n`);
}

/** Parses the tombstones of a day; null unless the bytes are exactly what `formatTombstones` returns for them. */
export function parseTombstones(bytes: Uint8Array, day: string): Tombstone[] | null {
  const { files } = parsedObject(bytes) ?? {};
  const listed: unknown[] = Array.isArray(files) ? files : [null];
  const parsed = listed.map(parseTombstone).filter((one) => one !== null);
  if (parsed.length !== listed.length || !isDay(day)) return null;
  return formatTombstones(day, parsed).equals(bytes) ? parsed : null;
}

function parseTombstone(value: unknown): Tombstone | null {
  const file = parseFile(value);
  if (!file || typeof value !== 'object' || value === null) return null;
  const { withdrawn_at: at, reason } = value as Readonly<Record<string, unknown>>;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || new Date(at).toISOString() !== at) return null;
  return typeof reason === 'string' && isReason(reason) ? { ...file, withdrawn_at: at, reason } : null;
}

/**
 * Returns true if a tombstone is that of a file as the record of its day lists it. The tombstone of an open day's hours
 * has the digest of the hours that were replaced, so it is not that of the file in the closed day.
 */
export function isTombstoneOf(tombstone: Tombstone, { name, bytes, sha256 }: ListedFile): boolean {
  return tombstone.name === name && tombstone.sha256 === sha256 && tombstone.bytes === bytes;
}

/** Returns true if the text is a valid reason for a withdrawal: one line of printable characters. */
export function isReason(text: string): boolean {
  return text.trim() !== '' && text.length <= maxReasonLength && !/[\p{Cc}\u2028\u2029]/u.test(text);
}
