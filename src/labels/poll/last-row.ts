import { createHash } from 'node:crypto';
import { isObject } from '../../input/json-budget.ts';
import { fingerprint } from '../label/label-fields.ts';
import type { LastFrame } from '../state/reading-events.ts';

/** Status of the last row that was read, as shown by a page that should begin with that row. */
type LastRowStatus =
  | 'present'
  /**
   * A newer row with the same (src, uri, cid, val) replaced the row. The labeler keeps only the newest row of each
   * label, so no label is lost.
   */
  | 'replaced'
  /** The row no longer exists: the database was emptied, restored from a copy, or recreated. */
  | 'gone'
  /** The page does not show the row; a newer row after the page may have replaced it. */
  | 'unknown';

/** Evidence in a page about the status of the last row that was read. */
interface PageEvidence {
  readonly labels: readonly unknown[];
  /** True if the page contains all remaining rows. */
  readonly isRest: boolean;
  /**
   * Fingerprint of the row that has the last row's number, or null if there is no such row, or the row was not looked
   * up.
   */
  readonly fingerprintAtNumber: string | null;
}

const fingerprintLength = 32;
const keyLength = 16;

/**
 * Returns the mark of a row for a position: the row's fingerprint and, for a label, a digest of its key (src, uri, cid,
 * val). A row and its replacement have the same key.
 */
export function markOf(row: unknown): string {
  return fingerprint(row) + keyOf(row);
}

/** Returns the fingerprint in a mark. A mark of an earlier version contains only the fingerprint. */
export function fingerprintIn(mark: string): string {
  return mark.slice(0, fingerprintLength);
}

/**
 * Returns the status of the row with this mark, as shown by one page. All rows of a page show the same state of the
 * labeler's database.
 */
export function lastRowStatus(mark: string, { labels, isRest, fingerprintAtNumber }: PageEvidence): LastRowStatus {
  const known = fingerprintIn(mark);
  if (labels.some((row) => fingerprint(row) === known)) return 'present';
  if (labels.length === 0) return 'gone';
  // An unordered page may omit a row that still exists, so an omission proves nothing if the row was looked up by its
  // number. A different row with the same number shows that the labeler's database was replaced.
  if (fingerprintAtNumber !== null) return fingerprintAtNumber === known ? 'present' : 'gone';
  if (isReplaced(mark, labels)) return 'replaced';
  return isRest && mark.length > fingerprintLength ? 'gone' : 'unknown';
}

/** Returns true if a page contains the row with this mark, or a row that replaced it. */
export function showsRow(mark: string, labels: readonly unknown[]): boolean {
  const status = lastRowStatus(mark, { labels, isRest: false, fingerprintAtNumber: null });
  return status === 'present' || status === 'replaced';
}

/**
 * Returns the new rows of the first frame of a resumed stream, which should begin with the last row that was read.
 * Returns `another` if the frame has the last row's number and consists of one different row. Returns `missing` for any
 * other frame, such as one that contains neither the last row nor its replacement.
 */
export function newRowsOf(last: LastFrame, seq: number, labels: readonly unknown[]): readonly unknown[] | Missing {
  if (last.tail === null && seq === last.seq && labels.length === 0) return [];
  if (last.tail !== null && seq >= last.seq) {
    // The labeler may divide rows into frames differently after a reconnect, so the last row may be anywhere in the
    // frame. All other rows of a later frame may be new; those before the last row of the same frame are known.
    const prints = labels.map(fingerprint);
    const known = fingerprintIn(last.tail);
    const at = prints.lastIndexOf(known);
    if (at !== -1) return labels.filter((_, place) => (seq === last.seq ? place > at : prints[place] !== known));
    if (seq > last.seq && isReplaced(last.tail, labels)) return labels;
  }
  return last.tail !== null && seq === last.seq && labels.length === 1 ? 'another' : 'missing';
}

type Missing = 'another' | 'missing';

function isReplaced(mark: string, labels: readonly unknown[]): boolean {
  const key = mark.slice(fingerprintLength);
  return key !== '' && labels.some((row) => keyOf(row) === key);
}

/**
 * Returns true if a page contains several different rows of one label, which a labeler that replaces rows never has.
 */
export function hasEarlierRows(labels: readonly unknown[]): boolean {
  const seen = new Map<string, string>();
  for (const row of labels) {
    if (!isObject(row)) continue;
    const { src, uri, cid = null, val } = row;
    if (![src, uri, val].every((part) => typeof part === 'string')) continue;
    const name = nameOf([src, uri, cid, val]);
    const before = seen.get(name);
    const state = nameOf([row.neg === true, row.cts]);
    if (before !== undefined && before !== state) return true;
    seen.set(name, state);
  }
  return false;
}

/**
 * Returns a digest of the fields that a replacement has in common with the row that it replaces; the digest is empty
 * for a value that is not a label.
 */
function keyOf(row: unknown): string {
  if (!isObject(row)) return '';
  const { src, uri, cid = null, val } = row;
  if (![src, uri, val].every((part) => typeof part === 'string')) return '';
  if (cid !== null && typeof cid !== 'string') return '';
  return createHash('sha256')
    .update(nameOf([src, uri, cid, val]))
    .digest('hex')
    .slice(0, keyLength);
}

function nameOf(parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}
