import type { AccountErrorCode } from '../../contract/errors.ts';
import { microsFromMillis } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import type { AccountInterval, Frontier } from '../../store/port.ts';
import { day, type Interval, micros } from '../../store/time.ts';
import { markOf, type Progress, type Snapshot } from '../cursor/cursor.ts';
import { partsInOneTurn, partsInTurns, type Turns } from '../query/account-parts.ts';
import type { AccountStore, RowStore } from '../query/account-store.ts';
import {
  type AskedQuery,
  assertReceived,
  availableInterval,
  storeFilter,
  wantedInterval,
  windowDays,
} from '../query/query.ts';
import { RowChain, rowText } from '../query/row.ts';
import type { Manifests, WrittenManifest } from './manifest.ts';

/** Limits of exports. */
export interface ExportBounds {
  /** Maximum number of rows in one export. */
  readonly maxExportRows: number;
  /** Maximum number of rows on one page; at most 500. */
  readonly pageRows: number;
  /** Lifetime of an export, in milliseconds. */
  readonly ttlMs: number;
}

/**
 * Maximum number of rows to read for a page, as a multiple of the maximum number of rows on the page. A page may
 * therefore be short if few rows match the filters.
 */
const passedPerRow = 16;

/** Reason for refusing an export. If the export is too large, `intervals` lists parts that each fit into one export. */
export interface ExportRefusal {
  readonly kind: 'refused';
  readonly code: Extract<AccountErrorCode, 'out_of_window' | 'export_too_large' | 'snapshot_expired'>;
  readonly intervals?: readonly AccountInterval[];
}

/**
 * A snapshot and the parts into which its interval must be divided so that each fits into one export: a single part if
 * all rows fit.
 */
interface TakenSnapshot {
  readonly kind: 'taken';
  readonly snapshot: Snapshot;
  readonly parts: readonly AccountInterval[];
}

/** Result of `takeSnapshot` if the account has too many rows to count in one turn. */
interface ManyRows {
  readonly kind: 'many';
  readonly interval: Interval;
  readonly frontier: Frontier;
}

/** Row counts of an interval that were obtained in earlier turns. */
interface CountedRows {
  readonly frontier: Frontier;
  readonly parts: readonly AccountInterval[];
}

/**
 * Takes the snapshot of a request at `now` (milliseconds since 1970): clips the interval to the window, and fixes the
 * frontier, the acceptance time from which rows are excluded. Counts the rows unless `counted` is given; returns
 * `many` if there are too many for one turn. Returns a refusal if the whole interval is outside the window. Throws
 * `behind` if this server has not yet received all data before the requested end.
 */
export async function takeSnapshot(
  store: AccountStore,
  { account, asked, filters }: AskedQuery,
  now: number,
  { maxExportRows, pageRows, ttlMs }: ExportBounds,
  counted: CountedRows | null = null,
): Promise<TakenSnapshot | ManyRows | ExportRefusal> {
  const frontier = counted?.frontier ?? (await store.frontier());
  const { now: instant, interval: clipped } = availableInterval(frontier, asked, microsFromMillis(now), null);
  if (clipped === 'out_of_window') return { kind: 'refused', code: clipped };
  const parts = counted?.parts ?? (await partsInOneTurn(store, account, clipped, frontier, maxExportRows));
  if (parts === null) return { kind: 'many', interval: clipped, frontier };
  return {
    kind: 'taken',
    parts,
    snapshot: {
      account,
      filters,
      ...clipped,
      // Ignore the requested time before the window, because no export includes rows from that time.
      askedStart: micros(Math.max(clipped.askedStart, instant - windowDays * day)),
      generation: markOf(frontier),
      frontier: frontier.end,
      countBound: parts.reduce((sum, { rows }) => sum + rows, 0),
      pageRows,
      createdAt: now,
      expiresAt: now + ttlMs,
    },
  };
}

/**
 * Extends the first and last part to the bounds of the request, including time outside the window. The export of each
 * part then reports the clipping, and the parts cover the request without omissions.
 */
function covering(parts: readonly AccountInterval[], wanted: Interval): readonly AccountInterval[] {
  const last = parts.length - 1;
  return parts.map(({ start, end, rows }, index) => ({
    start: index === 0 ? wanted.start : start,
    end: index === last ? wanted.end : end,
    rows,
  }));
}

/** A new export whose pages have not been read. */
interface CreatedExport {
  readonly kind: 'created';
  readonly manifest: WrittenManifest;
  readonly snapshot: Snapshot;
  readonly progress: Progress;
}

/**
 * Creates an export. If the export would be too large, refuses with `export_too_large` and lists parts that are small
 * enough. The rows of a hot account are counted in several turns, so that other clients can read in between.
 */
export async function createExport(
  turns: Turns,
  manifests: Manifests,
  query: AskedQuery,
  now: number,
  bounds: ExportBounds,
): Promise<CreatedExport | ExportRefusal> {
  const attempt = (counted: CountedRows | null) =>
    turns(async (store): Promise<CreatedExport | ManyRows | ExportRefusal> => {
      const taken = await takeSnapshot(store, query, now, bounds, counted);
      if (taken.kind !== 'taken') return taken;
      const { snapshot, parts } = taken;
      if (parts.length > 1) {
        const intervals = covering(parts, wantedInterval(query.asked, snapshot.end));
        return { kind: 'refused', code: 'export_too_large', intervals };
      }
      const manifest = await manifests.of(store, snapshot);
      return { kind: 'created', manifest, snapshot, progress: begin(manifest) };
    });
  const first = await attempt(null);
  if (first.kind !== 'many') return first;
  const { interval, frontier } = first;
  const parts = await partsInTurns(turns, query.account, interval, frontier, bounds.maxExportRows);
  const second = await attempt({ frontier, parts });
  // This cannot happen: the second attempt uses the counts that were obtained after the first one.
  if (second.kind === 'many') throw new Error('the rows of a counted interval were counted again');
  return second;
}

/** Returns the progress of an export whose first row has not been read. */
export function begin({ digest }: WrittenManifest): Progress {
  return { position: null, count: 0, digest };
}

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

/** Returns a refusal with parts that fit if a snapshot has more than `maxRows` rows, and null otherwise. */
export async function tooLarge(
  turns: Turns,
  { account, start, end, askedStart, frontier, countBound }: Snapshot,
  maxRows: number,
): Promise<ExportRefusal | null> {
  if (countBound <= maxRows) return null;
  const parts = await partsInTurns(turns, account, { start, end }, { end: frontier }, maxRows);
  return { kind: 'refused', code: 'export_too_large', intervals: covering(parts, { start: askedStart, end }) };
}

/** Maximum number of removals by which a standby may lag behind the server that issued a cursor. */
const maxRemovals = 1_000;

/**
 * Throws `behind` if this server lacks data that the issuing server had when it took the snapshot: data before the
 * end of the snapshot, or removals of rows. Does not throw if more than `maxRemovals` removals are missing, because
 * the snapshot then looks like a snapshot of another store.
 */
export function assertSnapshotReceived(frontier: Frontier, { end, generation }: Snapshot): void {
  assertReceived(frontier, end);
  if (frontier.replicatedThrough === undefined || markOf(frontier) === generation) return;
  const { generationId, revision } = frontier;
  for (let removals = 1; removals <= maxRemovals; removals++) {
    if (markOf({ generationId, revision: revision + removals }) !== generation) continue;
    throw new StoreError('behind', 'the server has not received the latest removal of rows');
  }
}
