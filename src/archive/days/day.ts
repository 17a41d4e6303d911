import { createHash } from 'node:crypto';
import { canonicalJson } from '../../contract/encodings.ts';
import { isDay } from './calendar.ts';
import { parsedObject } from './json.ts';

/** Name of the file that lists the files of a day. */
export const dayFile = 'day.json';
/** Schema of a day's record. */
const daySchema = 'almanac.archive.day/v1';

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
    schema: daySchema,
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

/** Parses the entry of a file in the record of a day; null if it is invalid. */
export function parseFile(value: unknown): ListedFile | null {
  if (typeof value !== 'object' || value === null) return null;
  const { name, bytes, sha256 } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string' || !isFileName(name) || !isDigest(sha256)) return null;
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0 ? { name, bytes, sha256 } : null;
}

/** Returns true for a valid name of a day's file. Such a name cannot refer to a file outside the day's directory. */
export function isFileName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,63}\.(?:json|jsonl|csv|parquet)$/.test(name);
}

/** Returns true for a SHA-256 in hexadecimal digits. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Returns the SHA-256 digest of bytes, in hexadecimal digits. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** An entry of the log: a closed day, and the digest of its record. */
export interface DayLeaf {
  readonly day: string;
  readonly sha256: string;
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
