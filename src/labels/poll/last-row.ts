import { createHash } from 'node:crypto';
import { isObject } from '../../input/json-object.ts';
import { fingerprint } from '../label/fingerprint.ts';
import type { LastFrame } from '../state/reading-events.ts';

/** Status of the last row that was read, as shown by a page that was requested from one row before it. */
export type LastRowStatus =
  | 'present'
  /** The labeler keeps one row for each (src, uri, cid, val), and a newer one replaced it: nothing is lost. */
  | 'replaced'
  /** The database was emptied, restored from a copy, or created again. */
  | 'gone'
  /** A newer row after the page may have replaced it. */
  | 'unknown';

/** Evidence in a page about the last row that was read. */
export interface PageEvidence {
  readonly labels: readonly unknown[];
  /** True if no rows follow the page. */
  readonly isRest: boolean;
  /** Fingerprint of the row that has the last row's number; null if there is none, or it is not known. */
  readonly fingerprintAtNumber: string | null;
}

const fingerprintLength = 32;
const keyLength = 16;

/** Returns the mark of a row for a position: its fingerprint and, for a label, a digest of the key that a replacement shares. */
export function markOf(row: unknown): string {
  return fingerprint(row) + keyOf(row);
}

/** Returns the fingerprint in a mark; a mark of an earlier version has nothing else. */
export function fingerprintIn(mark: string): string {
  return mark.slice(0, fingerprintLength);
}

/** Returns the status of the row with this mark by one page, which shows the database at one moment. */
export function lastRowStatus(mark: string, { labels, isRest, fingerprintAtNumber }: PageEvidence): LastRowStatus {
  const known = fingerprintIn(mark);
  if (labels.some((row) => fingerprint(row) === known)) return 'present';
  if (labels.length === 0) return 'gone';
  // An unordered page may omit the row. Another row with its number shows another database.
  if (fingerprintAtNumber !== null) return fingerprintAtNumber === known ? 'present' : 'gone';
  if (isReplaced(mark, labels)) return 'replaced';
  return isRest && mark.length > fingerprintLength ? 'gone' : 'unknown';
}

/**
 * Returns the new rows of the first frame of a resumed stream, which should repeat the last one. `another`: another row
 * has its number. `missing`: the row does not exist, and the frame does not show its replacement.
 */
export function newRowsOf(last: LastFrame, seq: number, labels: readonly unknown[]): readonly unknown[] | Missing {
  if (last.tail === null && seq === last.seq) return [];
  if (last.tail !== null && seq >= last.seq) {
    // Frames may be divided differently this time: rows after the last label are new, at any place in the frame.
    const at = labels.map(fingerprint).lastIndexOf(fingerprintIn(last.tail));
    if (at !== -1) return labels.slice(at + 1);
    if (seq > last.seq && isReplaced(last.tail, labels)) return labels;
  }
  return seq === last.seq && labels.length === 1 ? 'another' : 'missing';
}

type Missing = 'another' | 'missing';

function isReplaced(mark: string, labels: readonly unknown[]): boolean {
  const key = mark.slice(fingerprintLength);
  return key !== '' && labels.some((row) => keyOf(row) === key);
}

/** Returns a digest of the fields that a replacement shares with its row; empty for a value that is not a label. */
function keyOf(row: unknown): string {
  if (!isObject(row)) return '';
  const { src, uri, cid = null, val } = row;
  if (![src, uri, val].every((part) => typeof part === 'string')) return '';
  if (cid !== null && typeof cid !== 'string') return '';
  return createHash('sha256')
    .update(JSON.stringify([src, uri, cid, val]))
    .digest('hex')
    .slice(0, keyLength);
}
