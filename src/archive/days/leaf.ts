import { canonicalJson } from '../../contract/canonical.ts';
import { isDay } from './calendar.ts';
import { isDigest } from './day.ts';
import { parsedObject } from './json.ts';

/** An entry of the log: a closed day, and the digest of its record. */
export interface DayLeaf {
  readonly day: string;
  readonly sha256: string;
}

/** Returns the bytes of an entry. */
export function formatLeaf({ day, sha256 }: DayLeaf): Buffer {
  return Buffer.from(canonicalJson({ day, sha256 }));
}

/** Parses an entry; null unless the bytes are exactly those that `formatLeaf` returns. */
export function parseLeaf(bytes: Uint8Array): DayLeaf | null {
  const { day, sha256 } = parsedObject(bytes) ?? {};
  if (typeof day !== 'string' || !isDay(day) || !isDigest(sha256)) return null;
  return formatLeaf({ day, sha256 }).equals(bytes) ? { day, sha256 } : null;
}
