import { createHash } from 'node:crypto';
import { isObject } from '../../input/json-object.ts';
import { fingerprint } from '../label/fingerprint.ts';
import type { LastFrame } from '../state/reading-events.ts';

/** What became of the last row that was read, as one page shows it that was asked for from one row before. */
export type LastRowStatus =
  | 'there'
  /** The labeler keeps one row for each (src, uri, cid, val), and a newer one took its place: nothing is lost. */
  | 'replaced'
  /** The database was emptied, put back or made anew. */
  | 'gone'
  /** A newer row may have taken its place behind the page. */
  | 'unknown';

/** What a page shows of the last row that was read. */
export interface PageEvidence {
  readonly labels: readonly unknown[];
  /** Whether nothing lies behind the page. */
  readonly isRest: boolean;
  /** The fingerprint of the row that stands under the last row's number; null where none does, or nobody knows. */
  readonly fingerprintAtNumber: string | null;
}

const fingerprintLength = 32;
const keyLength = 16;

/** What a position keeps of a row: its fingerprint and, where it is a label, a digest of the key that a replacement shares. */
export function markOf(row: unknown): string {
  return fingerprint(row) + keyOf(row);
}

/** The fingerprint in a mark. An earlier version kept nothing else. */
export function fingerprintIn(mark: string): string {
  return mark.slice(0, fingerprintLength);
}

/** Judges by one page: an answer is of one moment, so no row moves while it is looked for. */
export function lastRowStatus(mark: string, { labels, isRest, fingerprintAtNumber }: PageEvidence): LastRowStatus {
  const known = fingerprintIn(mark);
  if (labels.some((row) => fingerprint(row) === known)) return 'there';
  if (labels.length === 0) return 'gone';
  // A page without an order may leave the row out; another row under its number is another database.
  if (fingerprintAtNumber !== null) return fingerprintAtNumber === known ? 'there' : 'gone';
  if (isReplaced(mark, labels)) return 'replaced';
  return isRest && mark.length > fingerprintLength ? 'gone' : 'unknown';
}

/**
 * What is new of the first frame of a stream that was asked for its last one again. `another`: another row has its
 * number. `missing`: it is not there, and the frame does not show what replaced it.
 */
export function newRowsOf(last: LastFrame, seq: number, labels: readonly unknown[]): readonly unknown[] | Missing {
  if (last.tail === null && seq === last.seq) return [];
  if (last.tail !== null && seq >= last.seq) {
    // Frames may be cut otherwise this time: what was read ends with the label that came last, wherever it stands now.
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

/** A digest of what a replacement shares with its row; empty for a value that is no label. */
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
