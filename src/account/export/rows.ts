import { hash } from 'node:crypto';
import type { AccountRow, ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import type { AccountErrorCode } from '../../contract/errors.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { LabelAction } from '../../contract/vocabulary.ts';
import { StoreError } from '../../store/errors.ts';
import type { AccountInterval, Frontier, Observation } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { markOf, type Progress, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore, RowStore } from '../query/account-store.ts';
import { assertReceived, storeFilter } from '../query/query.ts';

/** The next rows of an export to be read. */
export interface RowsQuery {
  readonly snapshot: Snapshot;
  readonly from: Progress;
  /** Maximum number of rows. */
  readonly limit: number;
  /** Time of the request, in milliseconds since 1970; null if the request has already checked the snapshot. */
  readonly now: number | null;
}

/** Rows of an export in order of acceptance, and the progress after the last row. */
export interface ReadRows {
  readonly kind: 'read';
  /** Rows as canonical JSON, separated by commas. */
  readonly rows: Uint8Array;
  readonly progress: Progress;
  /** True if no rows follow. */
  readonly terminal: boolean;
}

/** Reason for refusing an export. If the export is too large, `intervals` lists parts that each fit into one export. */
export interface ExportRefusal {
  readonly kind: 'refused';
  readonly code: Extract<AccountErrorCode, 'out_of_window' | 'export_too_large' | 'snapshot_expired'>;
  readonly intervals?: readonly AccountInterval[];
}

/**
 * Reads further rows like `readOn`, after checking the snapshot like `whyGone`. Returns a refusal if rows were purged
 * during the read, because rows of the export could be missing.
 */
export async function readExport(store: RowStore, query: RowsQuery): Promise<ReadRows | ExportRefusal> {
  const { snapshot, now } = query;
  const refused = now === null ? null : await whyGone(store, snapshot, now);
  if (refused) return refused;
  const read = await readOn(store, query);
  return (await isCurrent(store, snapshot)) ? read : gone;
}

async function isCurrent(store: AccountStore, snapshot: Snapshot): Promise<boolean> {
  return markOf(await store.frontier()) === snapshot.generation;
}

/**
 * Maximum number of rows to read for a page, as a multiple of the maximum number of rows on the page. A page may
 * therefore be short if few rows match the filters.
 */
const passedPerRow = 16;

/** Size of the rows in bytes after which no further row is read at once. */
const maxRowsBytes = 512 * 1024;

/** Reads up to `limit` further rows of an export. Returns fewer rows if few of the rows match the filters. */
async function readOn(store: RowStore, { snapshot, from, limit }: RowsQuery): Promise<ReadRows> {
  const { account, start } = snapshot;
  const end = micros(Math.min(snapshot.end, snapshot.frontier));
  const chain = new RowChain(from.digest);
  if (end <= start) return { kind: 'read', rows: chain.rows, progress: from, terminal: true };
  const read = await store.readAccount({
    account,
    start,
    end,
    order: 'oldest',
    after: from.position,
    limit,
    filter: storeFilter(snapshot.filters),
    passes: limit * passedPerRow,
    withoutBytes: true,
  });
  let next = read.next;
  for (const [n, observation] of read.rows.entries()) {
    chain.add(rowText(observation));
    if (chain.rows.length < maxRowsBytes || n === read.rows.length - 1) continue;
    next = observation.observedAt;
    break;
  }
  const progress = { position: next ?? from.position, count: from.count + chain.count, digest: chain.digest };
  return { kind: 'read', rows: chain.rows, progress, terminal: next === null };
}

const gone: ExportRefusal = { kind: 'refused', code: 'snapshot_expired' };

/**
 * Returns a refusal if a snapshot cannot be continued, or null if it can. A snapshot ends when it expires, when rows
 * are purged, and when the store begins a new generation. Throws `behind` if this server has not yet received all
 * data of the snapshot.
 */
export async function whyGone(store: AccountStore, snapshot: Snapshot, now: number): Promise<ExportRefusal | null> {
  if (now >= snapshot.expiresAt) return gone;
  const frontier = await store.frontier();
  assertSnapshotReceived(frontier, snapshot);
  return markOf(frontier) === snapshot.generation ? null : gone;
}

/** Maximum number of removals by which a standby may lag behind the server that issued a cursor. */
const maxRemovals = 1_000;

/**
 * Throws `behind` if this server lacks data that the issuing server had when it took the snapshot: data before the
 * end of the snapshot, or removals of rows. Does not throw if more than `maxRemovals` removals are missing, because
 * the snapshot then looks like a snapshot of another store.
 */
function assertSnapshotReceived(frontier: Frontier, { end, generation }: Snapshot): void {
  assertReceived(frontier, end);
  if (frontier.replicatedThrough === undefined || markOf(frontier) === generation) return;
  const { generationId, revision } = frontier;
  for (let removals = 1; removals <= maxRemovals; removals++) {
    if (markOf({ generationId, revision: revision + removals }) !== generation) continue;
    throw new StoreError('behind', 'the server has not received the latest removal of rows');
  }
}

/** Returns the progress of an export whose first row has not been read. */
export function begin({ digest }: Pick<Progress, 'digest'>): Progress {
  return { position: null, count: 0, digest };
}

/** Returns the published row of an observation. Only the fields named here are published. */
export function rowOf({ label, observedAt, signature }: Observation): AccountRow {
  return {
    action: actionOf(label.neg),
    ...(label.cid === undefined ? {} : { cid: label.cid }),
    ...(label.exp === undefined ? {} : { expires_at: label.exp }),
    labeler_did: label.src,
    observed_at: formatMicros(observedAt),
    signature,
    source_timestamp: label.cts,
    uri: label.uri,
    value: label.val,
  };
}

/**
 * Returns the row of an observation as canonical JSON. The response and the digest of an export use the same text. The
 * text is put together here, which takes a fourth of the time of a general serialization.
 */
export function rowText({ label, observedAt, signature }: Observation): string {
  const { src, uri, cid, val, neg, cts, exp } = label;
  const cidPart = cid === undefined ? '' : `"cid":${quoted(cid)},`;
  const expPart = exp === undefined ? '' : `"expires_at":${quoted(exp)},`;
  return `{"action":"${actionOf(neg)}",${cidPart}${expPart}"labeler_did":${quoted(src)},"observed_at":"${stampText(observedAt)}","signature":"${signature}","source_timestamp":${quoted(cts)},"uri":${quoted(uri)},"value":${quoted(val)}}`;
}

/** Matches a text that JSON contains without escapes. */
const unescaped = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The second of the last formatted stamp, and its text: consecutive rows were mostly accepted in the same second. */
const lastSecond = { second: Number.NaN, text: '' };

function stampText(at: Micros): string {
  const second = Math.floor(at / 1_000_000);
  if (second !== lastSecond.second) Object.assign(lastSecond, { second, text: formatMicros(at).slice(0, -7) });
  return `${lastSecond.text}${String(at - second * 1_000_000).padStart(6, '0')}Z`;
}

/** Returns the action of one row. A removal is not paired with the application that it removes. */
function actionOf(neg: boolean | undefined): LabelAction {
  return neg === true ? 'removal_observed' : 'application_observed';
}

/**
 * Digest of an export: a chain over the manifest and then each row. The last digest of the chain covers the whole
 * export, regardless of its division into pages.
 */

/** Returns the first digest of the chain: the SHA-256 of the canonical manifest, 32 bytes. */
export function firstDigest(manifest: ExportManifest): Buffer {
  return hash('sha256', canonicalJson(manifest), 'buffer');
}

const digestBytes = 32;
/** Maximum number of bytes of a UTF-16 code unit. */
const maxBytesPerUnit = 3;

/**
 * Rows of an export as canonical JSON, separated by commas, and the digest of the chain after them. The next digest is the
 * SHA-256 of the previous digest (32 bytes) followed by the row.
 */
export class RowChain {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #end = 0;
  #count = 0;
  /** The digest as text with one character per byte. The runtime returns such a text four times as fast as a buffer. */
  #digest: string;

  /** `digest` is the digest before the first row. */
  constructor(digest: Buffer) {
    this.#digest = digest.toString('latin1');
  }

  /** Adds a row as canonical JSON. */
  add(row: string): void {
    this.#reserve(1 + digestBytes + maxBytesPerUnit * row.length);
    const bytes = this.#bytes;
    const start = this.#count === 0 ? 0 : this.#end + bytes.write(',', this.#end, 'latin1');
    // Write the row after the digest that precedes it in the chain, and then move it to its place.
    const at = start + bytes.write(this.#digest, start, 'latin1');
    const end = at + bytes.write(row, at);
    this.#digest = hash('sha256', bytes.subarray(start, end), 'binary');
    bytes.copyWithin(start, at, end);
    this.#end = end - digestBytes;
    this.#count += 1;
  }

  /** Number of added rows. */
  get count(): number {
    return this.#count;
  }

  /** The rows, separated by commas. */
  get rows(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Digest after the last row: 32 bytes. */
  get digest(): Buffer {
    return Buffer.from(this.#digest, 'latin1');
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + more);
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
