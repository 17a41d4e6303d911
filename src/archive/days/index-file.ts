import { isDay } from './calendar.ts';
import { isDigest } from './day.ts';
import { parsedObject } from './json.ts';

/** Name of the file that lists the days of an archive. */
export const indexFile = 'index.json';
/** Schema of the index. */
const archiveSchema = 'almanac.archive/v1';
/** Licence under which an archive's files are published. */
const licence = 'CC0-1.0';

/** A listed day, with the digest of its record. */
export interface ListedDay {
  readonly day: string;
  readonly state: 'open' | 'closed';
  readonly sha256: string;
}

/** Index of an archive, the entry point for programs: its key and its days. */
export interface ArchiveIndex {
  /** The log's public key in text form. */
  readonly key: string;
  readonly days: readonly ListedDay[];
}

/** Returns the bytes of the index. */
export function formatIndex({ key, days }: ArchiveIndex): Buffer {
  return Buffer.from(`${JSON.stringify({ schema: archiveSchema, licence, log: 'log/', key, days }, null, 1)}\n`);
}

/** Parses the bytes of an index; null if they are not a valid index. */
export function parseIndex(bytes: Uint8Array): ArchiveIndex | null {
  const { schema, key, days } = parsedObject(bytes) ?? {};
  if (schema !== archiveSchema || typeof key !== 'string' || !Array.isArray(days)) return null;
  const listed = days.map(parseListed).filter((day) => day !== null);
  return listed.length === days.length ? { key, days: listed } : null;
}

function parseListed(value: unknown): ListedDay | null {
  if (typeof value !== 'object' || value === null) return null;
  const { day, state, sha256 } = value as Readonly<Record<string, unknown>>;
  if (typeof day !== 'string' || !isDay(day) || !isDigest(sha256)) return null;
  return state === 'open' || state === 'closed' ? { day, state, sha256 } : null;
}
