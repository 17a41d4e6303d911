import type { AccountErrorCode } from '../../contract/account-errors.ts';
import { microsFromMillis } from '../../contract/timestamp.ts';
import type { AccountInterval, Frontier } from '../../store/port.ts';
import { day, type Interval, micros } from '../../store/time.ts';
import { markOf } from '../cursor/cursor.ts';
import { partsInOneTurn, partsInTurns, type Turns } from '../query/account-parts.ts';
import type { AccountStore } from '../query/account-store.ts';
import { nextDigest } from '../query/digest.ts';
import { type AskedQuery, availableWindow, clipInterval, wantedInterval, windowDays } from '../query/query.ts';
import { assertAskedReceived, readingTime } from '../query/received.ts';
import { rowOf, storeFilter } from '../query/row.ts';
import type { Progress, Snapshot } from '../query/snapshot.ts';
import type { Manifests, WrittenManifest } from './manifest.ts';
import { assertSnapshotReceived } from './snapshot-received.ts';

/** Limits of exports. */
export interface ExportBounds {
  /** Maximum rows of one export. */
  readonly maxExportRows: number;
  /** Maximum rows of one page: at most 500. */
  readonly pageRows: number;
  /** Lifetime of an export, in milliseconds. */
  readonly ttlMs: number;
}

/**
 * Maximum number of rows that are read for each row of a page's capacity. A page with restrictive filters may therefore
 * be short.
 */
const passedPerRow = 16;
/** Reason for refusing an export, with the intervals that would fit into one export each. */
export interface ExportRefusal {
  readonly kind: 'refused';
  readonly code: Extract<AccountErrorCode, 'out_of_window' | 'export_too_large' | 'snapshot_expired'>;
  readonly intervals?: readonly AccountInterval[];
}

/**
 * A snapshot, and its interval divided into parts that each fit into an export. There is one part if all rows fit into
 * one export.
 */
export interface TakenSnapshot {
  readonly kind: 'taken';
  readonly snapshot: Snapshot;
  readonly parts: readonly AccountInterval[];
}

/** Result of a snapshot whose rows are too many to count in one turn. */
export interface ManyRows {
  readonly kind: 'many';
  readonly interval: Interval;
  readonly frontier: Frontier;
}

/** Row counts of an interval from earlier turns. */
export interface CountedRows {
  readonly frontier: Frontier;
  readonly parts: readonly AccountInterval[];
}

/**
 * Creates the snapshot of a request at `now` (milliseconds since 1970): the interval clipped to the window, and the
 * frontier, after which rows are excluded. Counts the rows unless `counted` is given.
 */
export async function takeSnapshot(
  store: AccountStore,
  { account, asked, filters }: AskedQuery,
  now: number,
  { maxExportRows, pageRows, ttlMs }: ExportBounds,
  counted: CountedRows | null = null,
): Promise<TakenSnapshot | ManyRows | ExportRefusal> {
  const frontier = counted?.frontier ?? (await store.frontier());
  assertAskedReceived(frontier, asked, microsFromMillis(now), null);
  const instant = readingTime(frontier, microsFromMillis(now));
  const clipped = clipInterval(asked, availableWindow(frontier, instant));
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
      // Drop time before the whole window, because it cannot have been observed.
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
 * Extends the parts to cover the whole request, including time outside the window. The export of each part reports its
 * clipping, and no time is lost between parts.
 */
function covering(parts: readonly AccountInterval[], wanted: Interval): readonly AccountInterval[] {
  const last = parts.length - 1;
  return parts.map(({ start, end, rows }, index) => ({
    start: index === 0 ? wanted.start : start,
    end: index === last ? wanted.end : end,
    rows,
  }));
}

/** A new export, before its first page. */
export interface CreatedExport {
  readonly kind: 'created';
  readonly manifest: WrittenManifest;
  readonly snapshot: Snapshot;
  readonly progress: Progress;
}

/**
 * Creates an export, or refuses with `export_too_large` and parts that fit. The rows of a hot account are counted in
 * several turns, so that other clients can read between them.
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
  // The second call uses the counts of the first call, so it never counts rows again.
  if (second.kind === 'many') throw new Error('the rows of a counted interval were counted again');
  return second;
}

/** Returns the progress of an export before its first row. */
export function begin({ digest }: WrittenManifest): Progress {
  return { position: null, count: 0, digest };
}

/** Rows of an export in order of acceptance, and the progress after them. */
export interface ReadRows {
  /** Rows as canonical JSON. */
  readonly rows: readonly string[];
  readonly progress: Progress;
  /** True if the export ends with these rows. */
  readonly terminal: boolean;
}

/** Reads up to `limit` further rows of an export. Restrictive filters may reduce the number. */
async function readOn(store: AccountStore, snapshot: Snapshot, from: Progress, limit: number): Promise<ReadRows> {
  const { account, start } = snapshot;
  const end = micros(Math.min(snapshot.end, snapshot.frontier));
  const rows: string[] = [];
  let { position, count, digest } = from;
  if (end <= start) return { rows, progress: from, terminal: true };
  const read = await store.readAccount({
    account,
    start,
    end,
    order: 'oldest',
    after: position,
    limit,
    filter: storeFilter(snapshot.filters),
    passes: limit * passedPerRow,
  });
  for (const observation of read.rows) {
    const row = JSON.stringify(rowOf(observation));
    rows.push(row);
    digest = nextDigest(digest, row);
    count += 1;
  }
  position = read.next ?? position;
  return { rows, progress: { position, count, digest }, terminal: read.next === null };
}

const gone: ExportRefusal = { kind: 'refused', code: 'snapshot_expired' };

/**
 * Returns the reason why a snapshot cannot be continued, or null: the snapshot expired, belongs to another generation of
 * the store, or rows were purged after its creation. Throws `behind` if the server has not received it yet.
 */
export async function whyGone(store: AccountStore, snapshot: Snapshot, now: number): Promise<ExportRefusal | null> {
  if (now >= snapshot.expiresAt) return gone;
  const frontier = await store.frontier();
  assertSnapshotReceived(frontier, snapshot);
  return markOf(frontier) === snapshot.generation ? null : gone;
}

/**
 * Reads further rows like `readOn`; returns a refusal if rows were purged during the read, because some rows may be
 * missing.
 */
export async function readOnWhole(
  store: AccountStore,
  snapshot: Snapshot,
  from: Progress,
  limit: number,
): Promise<({ readonly kind: 'read' } & ReadRows) | ExportRefusal> {
  const read = await readOn(store, snapshot, from, limit);
  return (await isCurrent(store, snapshot)) ? { kind: 'read', ...read } : gone;
}

async function isCurrent(store: AccountStore, snapshot: Snapshot): Promise<boolean> {
  return markOf(await store.frontier()) === snapshot.generation;
}

/** Returns the parts of a snapshot beyond the limit, or null if it fits. */
export async function tooLarge(
  turns: Turns,
  { account, start, end, askedStart, frontier, countBound }: Snapshot,
  maxRows: number,
): Promise<ExportRefusal | null> {
  if (countBound <= maxRows) return null;
  const parts = await partsInTurns(turns, account, { start, end }, { end: frontier }, maxRows);
  return { kind: 'refused', code: 'export_too_large', intervals: covering(parts, { start: askedStart, end }) };
}
