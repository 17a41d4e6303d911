import { canonicalJson } from '../../contract/canonical.ts';
import { isDay } from './calendar.ts';
import { isDigest } from './day.ts';
import { parsedObject } from './json.ts';

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
