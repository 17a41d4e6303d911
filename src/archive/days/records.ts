import { createHash } from 'node:crypto';
import { canonicalJson } from '../../contract/encodings.ts';
import { isObject, type JsonLimits, type JsonObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { isDay } from './calendar.ts';

/**
 * The records of an archive: the index of its days, the record of each day with the digests of its files, the entry of a
 * closed day in the log, and the tombstones of withdrawn files. Each states a digest of the next, so that one signature
 * covers all closed days.
 */

/** Name of the file that lists the days of an archive. */
export const indexFile = 'index.json';
/** Name of the file that lists the files of a day. */
export const dayFile = 'day.json';
/** Name of the file with the tombstones of a day. */
export const tombstoneFile = 'withdrawn.json';

/** Returns the path of a day's file, relative to the directory of the archive. */
export function pathOf(day: string, name: string): string {
  return `days/${day}/${name}`;
}

/** An entry of the log: a closed day, and the digest of its record. */
export interface DayLeaf {
  readonly day: string;
  readonly sha256: string;
}

/** A listed day, with the digest of its record. */
export interface ListedDay extends DayLeaf {
  readonly state: 'open' | 'closed';
}

/** Index of an archive, the entry point for programs: its key and its days. */
export interface ArchiveIndex {
  /** The log's public key in text form. */
  readonly key: string;
  readonly days: readonly ListedDay[];
}

/** Returns the bytes of the index. */
export function formatIndex({ key, days }: ArchiveIndex): Buffer {
  const index = { schema: 'almanac.archive/v1', licence: 'CC0-1.0', log: 'log/', key, days };
  return Buffer.from(`${JSON.stringify(index, null, 1)}\n`);
}

/** Parses the bytes of an index; null if they are not a valid index. */
export function parseIndex(bytes: Uint8Array): ArchiveIndex | null {
  const { schema, key, days } = parsedObject(bytes) ?? {};
  if (schema !== 'almanac.archive/v1' || typeof key !== 'string' || !Array.isArray(days)) return null;
  const listed = days.map(parseListed).filter((day) => day !== null);
  return listed.length === days.length ? { key, days: listed } : null;
}

function parseListed(value: unknown): ListedDay | null {
  if (!isObject(value)) return null;
  const { day, state, sha256 } = value;
  if (typeof day !== 'string' || !isDay(day) || !isDigest(sha256)) return null;
  return state === 'open' || state === 'closed' ? { day, state, sha256 } : null;
}

/** Formats a log entry as bytes. */
export function formatLeaf({ day, sha256 }: DayLeaf): Buffer {
  return Buffer.from(canonicalJson({ day, sha256 }));
}

/** Parses a log entry; null unless the bytes are exactly what `formatLeaf` returns for it. */
export function parseLeaf(bytes: Uint8Array): DayLeaf | null {
  const { day, sha256 } = parsedObject(bytes) ?? {};
  if (typeof day !== 'string' || !isDay(day) || !isDigest(sha256)) return null;
  return formatLeaf({ day, sha256 }).equals(bytes) ? { day, sha256 } : null;
}

/** Entry of one file in a day's record. */
export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string;
}

/**
 * Reasons why a day is open. `held`: the operator withholds the label facts. `recent`: the day is open for any other
 * reason.
 */
const openReasons = ['recent', 'held'] as const;

/** Record of a day: its files with their digests. Each revision names the digest of its predecessor. */
export interface DayRecord {
  readonly day: string;
  readonly state: 'open' | 'closed';
  /** Reason why the day is open; null for a closed day. */
  readonly reason: (typeof openReasons)[number] | null;
  readonly revision: number;
  readonly previous: string | null;
  readonly files: readonly ListedFile[];
  /** Names of computed files that were not written because the privacy scan found an identity in them. */
  readonly withheld: readonly string[];
}

/** Formats a day's record as the bytes of its file. */
export function formatDay({ day, state, reason, revision, previous, files, withheld }: DayRecord): Buffer {
  const record = {
    schema: 'almanac.archive.day/v1',
    day,
    state,
    ...(reason === null ? {} : { reason }),
    revision,
    previous_sha256: previous,
    files,
    ...(withheld.length === 0 ? {} : { withheld }),
  };
  return Buffer.from(`${canonicalJson(record)}\n`);
}

/** Parses a day's record; null unless the bytes are exactly what `formatDay` returns for it. */
export function parseDay(bytes: Uint8Array): DayRecord | null {
  const value = parsedObject(bytes);
  if (value === null) return null;
  const { day, state, reason = null, revision, previous_sha256: previous, files, withheld = [] } = value;
  if (typeof day !== 'string' || !isDay(day) || (state !== 'open' && state !== 'closed')) return null;
  const known = openReasons.find((one) => one === reason) ?? null;
  if (known !== reason || (state === 'open') !== (known !== null)) return null;
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 1) return null;
  if (previous !== null && !isDigest(previous)) return null;
  const listed: unknown[] = Array.isArray(files) ? files : [null];
  const parsed = listed.map(parseFile).filter((file) => file !== null);
  if (parsed.length !== listed.length) return null;
  const names: unknown[] = Array.isArray(withheld) ? withheld : [null];
  const texts = names.filter((name) => typeof name === 'string' && isFileName(name)) as string[];
  const record: DayRecord = { day, state, reason: known, revision, previous, files: parsed, withheld: texts };
  return formatDay(record).equals(bytes) ? record : null;
}

function parseFile(value: unknown): ListedFile | null {
  if (!isObject(value)) return null;
  const { name, bytes, sha256 } = value;
  if (typeof name !== 'string' || !isFileName(name) || !isDigest(sha256)) return null;
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 ? { name, bytes, sha256 } : null;
}

/** Returns true for a valid name of a day's file. Such a name cannot refer to a file outside the day's directory. */
export function isFileName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,63}\.(?:json|jsonl|csv|parquet)$/.test(name);
}

function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Returns the SHA-256 digest of bytes, in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

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
  return Buffer.from(`${canonicalJson({ schema: 'almanac.archive.withdrawn/v1', day, files })}\n`);
}

/**
 * Parses the tombstones of a day, of which there are none without a file. Returns null unless the bytes are exactly what
 * `formatTombstones` returns for them.
 */
export function parseTombstones(bytes: Uint8Array | null, day: string): Tombstone[] | null {
  if (bytes === null) return [];
  const { files } = parsedObject(bytes) ?? {};
  const listed: unknown[] = Array.isArray(files) ? files : [null];
  const parsed = listed.map(parseTombstone).filter((one) => one !== null);
  if (parsed.length !== listed.length || !isDay(day)) return null;
  return formatTombstones(day, parsed).equals(bytes) ? parsed : null;
}

function parseTombstone(value: unknown): Tombstone | null {
  const file = parseFile(value);
  if (!file || !isObject(value)) return null;
  const { withdrawn_at: at, reason } = value;
  if (typeof at !== 'string' || Number.isNaN(Date.parse(at)) || new Date(at).toISOString() !== at) return null;
  return typeof reason === 'string' && isReason(reason) ? { ...file, withdrawn_at: at, reason } : null;
}

/**
 * Returns true if a tombstone is that of a file as the record of its day lists it. The tombstone of a file of an
 * open day has the digest of the content that was replaced, so it is not that of the file in the closed day.
 */
export function isTombstoneOf(tombstone: Tombstone, { name, bytes, sha256 }: ListedFile): boolean {
  return tombstone.name === name && tombstone.sha256 === sha256 && tombstone.bytes === bytes;
}

/** Maximum length of the reason for a withdrawal, in characters. */
export const maxReasonLength = 300;

/** Returns true if the text is a valid reason for a withdrawal: one line of printable characters. */
export function isReason(text: string): boolean {
  return text.trim() !== '' && text.length <= maxReasonLength && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

/** Parses bytes as a JSON object; null if they are not a JSON object or exceed the limits. */
export function parsedObject(bytes: Uint8Array, limits: JsonLimits = inputLimits.archiveFile): JsonObject | null {
  if (scanJson(bytes, limits).fault !== null) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Decodes UTF-8 exactly; null if the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    // Set `ignoreBOM` to keep a leading byte order mark, because digests and signatures cover it.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
