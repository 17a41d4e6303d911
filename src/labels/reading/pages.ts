import { createHash } from 'node:crypto';
import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { type GetJsonOptions, type HttpClient, withPeer } from '../../network/http/http.ts';
import type { ReaderPorts } from '../ingest/ports.ts';
import { fingerprint } from '../label/label-fields.ts';
import { cursorText } from '../roster/labeler-lists.ts';
import { httpFault, type LastFrame, type SourceFault } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';

/** Number of requested labels per page: the lexicon's maximum. */
export const pageLimit = 250;

/** A page of `com.atproto.label.queryLabels`. */
export interface LabelPage {
  readonly kind: 'page';
  readonly labels: readonly unknown[];
  /** Cursor as received, or null if the page has no cursor. */
  readonly cursor: string | null;
}

/** Options for requesting a page. */
interface PageOptions extends Pick<GetJsonOptions, 'timeoutMs' | 'signal' | 'admit' | 'charge'> {
  readonly limit: number;
  /** True to accept a page that is large enough for one huge label. */
  readonly large?: boolean;
}

/** Requests the labels after a cursor from a labeler. Never rejects. */
export async function queryLabels(
  http: HttpClient,
  endpoint: string,
  cursor: number,
  { limit, large = false, ...options }: PageOptions,
): Promise<LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  const url = new URL('/xrpc/com.atproto.label.queryLabels', endpoint);
  url.searchParams.set('uriPatterns', '*');
  url.searchParams.set('limit', String(limit));
  if (cursor > 0) url.searchParams.set('cursor', String(cursor));
  const shape = large ? inputLimits.singleLabelPage : inputLimits.labelPage;
  const answer = await http.getJson(url, { ...options, maxBytes: shape.bytes, shape });
  if (answer.kind !== 'json') return { kind: 'fault', ...httpFault(answer) };
  const { value } = answer;
  const page = isObject(value) ? value : {};
  // Serializers of some languages write an empty list as null.
  const labels = page.labels === null ? [] : page.labels;
  if (!Array.isArray(labels) || labels.length > 4 * pageLimit) {
    return { kind: 'fault', fault: 'rejecting', why: 'no page', retryAfterMs: null };
  }
  return { kind: 'page', labels, cursor: cursorText(page.cursor) };
}

/** Parses a cursor as a positive integer; returns null for any other text. */
export function decimal(cursor: string | null): number | null {
  if (cursor === null || !/^[1-9]\d{0,15}$/.test(cursor)) return null;
  const number = Number(cursor);
  return Number.isSafeInteger(number) ? number : null;
}

/** Source and ports of a request for a page, and the signal that aborts it. */
interface PageRequester {
  readonly source: Source;
  readonly ports: Pick<ReaderPorts, 'query' | 'time' | 'report' | 'pace'>;
  readonly signal: AbortSignal;
}

/**
 * Requests a page once, and charges the source for decoding the response, even if the response is not a page: a
 * compressed response of a few bytes may cost as much as a large page. The number of concurrent requests for large
 * pages is limited, because each page may occupy a lot of memory.
 */
export async function requestPage(
  { source, ports, signal }: PageRequester,
  cursor: number,
  options: Pick<PageOptions, 'limit' | 'large' | 'admit' | 'charge'>,
): Promise<LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  const { memory } = ports.query;
  const { timings } = ports.time;
  const http = withPeer(ports.query.http, source.peer);
  const charge: PageOptions['charge'] = (cost) => {
    ports.pace.charge(source.did, cost);
    options.charge?.(cost);
  };
  const pageOptions = { ...options, charge, timeoutMs: timings.requestMs, signal };
  if (!options.large) return queryLabels(http, source.endpoint, cursor, pageOptions);
  const turn = await memory.largePages.acquire(
    { host: new URL(source.endpoint).host, ...source.peer },
    timings.requestMs,
    signal,
  );
  if (typeof turn === 'string') return { kind: 'fault', fault: null, why: turn, retryAfterMs: null };
  try {
    return await queryLabels(http, source.endpoint, cursor, pageOptions);
  } finally {
    turn();
  }
}

/** Result of looking up a row by its number. */
type RowAt =
  | { readonly kind: 'row'; readonly fingerprint: string }
  /** No row has this number, or the labeler does not return it. */
  | { readonly kind: 'none' }
  /** The labeler does not respond now, or a limit of this instrument prevents the request. */
  | ({ readonly kind: 'fault' } & SourceFault);

/**
 * Looks up the row with exactly this number. Requests a larger page if the row does not fit, and returns a permanent
 * failure as `none`.
 */
export async function rowAt(reader: PageRequester, number: number): Promise<RowAt> {
  const memory = reader.ports.query.memory.decoded.open();
  // The request must not wait for memory: the caller may hold memory for which other sources wait.
  const admit: PageOptions['admit'] = async (decodedBytes) => (memory.tryTake(decodedBytes) ? 'taken' : 'busy');
  try {
    const page = await requestPage(reader, number - 1, { limit: 1, admit });
    if (page.kind === 'fault' && page.why === 'busy') reader.ports.report.telemetry.hostFull('poll');
    const isLarge = page.kind === 'fault' && page.why === 'too_large';
    return rowOf(isLarge ? await requestPage(reader, number - 1, { limit: 1, large: true, admit }) : page, number);
  } finally {
    memory.release();
  }
}

function rowOf(page: LabelPage | ({ readonly kind: 'fault' } & SourceFault), number: number): RowAt {
  // Treat a permanent failure as `none`, so that a labeler that never responds to this request is still read.
  if (page.kind === 'fault') return page.fault === null || page.fault === 'failed' ? page : { kind: 'none' };
  if (decimal(page.cursor) !== number || page.labels.length !== 1) return { kind: 'none' };
  return { kind: 'row', fingerprint: fingerprint(page.labels[0]) };
}

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
 * Returns the new rows of the first frame after the cursor of a resumed stream, which should begin with the last row that was read.
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
