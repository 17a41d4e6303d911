import { microsFromMillis } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import type { AccountInterval, Frontier } from '../../store/port.ts';
import { day, type Interval, micros } from '../../store/time.ts';
import { markOf, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore } from '../query/account-store.ts';
import { daysIn } from '../query/intervals.ts';
import { type AskedQuery, availableInterval, wantedInterval, windowDays } from '../query/query.ts';
import type { Manifests, WrittenManifest } from './manifest.ts';
import type { ExportRefusal } from './rows.ts';

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

/** Runs work on the store in a separate turn of the reading pool. */
export type Turns = <T>(work: (store: AccountStore) => Promise<T>) => Promise<T>;

/** A new export whose pages have not been read. */
interface CreatedExport {
  readonly kind: 'created';
  readonly manifest: WrittenManifest;
  readonly snapshot: Snapshot;
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
      return { kind: 'created', manifest: await manifests.of(store, snapshot), snapshot };
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

/** Maximum number of rows that are counted per turn; counting them takes a fraction of a second. */
const rowsPerTurn = 500_000;
/**
 * Maximum number of rows that are counted to split an interval. The window is expected to have fewer rows in total, so
 * only a faulty count reaches the limit.
 */
const countBudget = 50_000_000;

/**
 * Splits an interval into parts with at most `maxRows` of the account's rows each. Returns null if there are too many
 * rows to count in one turn.
 */
export async function partsInOneTurn(
  store: AccountStore,
  account: string,
  { start, end }: Interval,
  frontier: Pick<Frontier, 'end'>,
  maxRows: number,
): Promise<readonly AccountInterval[] | null> {
  const known = micros(Math.min(end, frontier.end));
  if (known <= start) return [{ start, end, rows: 0 }];
  const parts = await countedParts(store, account, { start, end: known }, maxRows);
  return parts && upTo(end, known, parts);
}

/**
 * Splits an interval like `partsInOneTurn`, in as many turns as necessary. Throws `budget_exceeded` above `countBudget`
 * rows.
 */
export async function partsInTurns(
  turns: Turns,
  account: string,
  { start, end }: Interval,
  frontier: Pick<Frontier, 'end'>,
  maxRows: number,
): Promise<readonly AccountInterval[]> {
  const known = micros(Math.min(end, frontier.end));
  if (known <= start) return [{ start, end, rows: 0 }];
  const merged: AccountInterval[] = [];
  let counted = 0;
  // Use a stack, so that both halves of a split interval are counted before the later intervals.
  const left = daysIn({ start, end: known }).toReversed();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const interval = next;
    const parts = await turns((store) => countedParts(store, account, interval, maxRows));
    if (parts === null) {
      left.push(...halves(interval).toReversed());
      continue;
    }
    for (const part of parts) {
      append(merged, part, maxRows);
      counted += part.rows;
    }
    if (counted > countBudget)
      throw new StoreError('budget_exceeded', `the interval contains more than ${countBudget} rows`);
  }
  return upTo(end, known, merged);
}

async function countedParts(
  store: AccountStore,
  account: string,
  interval: Interval,
  maxRows: number,
): Promise<readonly AccountInterval[] | null> {
  try {
    return await store.accountIntervals({ account, ...interval, maxRows, budget: rowsPerTurn });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'budget_exceeded') return null;
    throw error;
  }
}

/** Appends a part to `merged`, or merges it with the last part if both fit into `maxRows`. */
function append(merged: AccountInterval[], part: AccountInterval, maxRows: number): void {
  const last = merged.at(-1);
  if (last && last.rows + part.rows <= maxRows) {
    merged[merged.length - 1] = { start: last.start, end: part.end, rows: last.rows + part.rows };
  } else {
    merged.push(part);
  }
}

/**
 * Extends the parts to the end of the interval. If there are several parts, the time after the frontier becomes a
 * separate part.
 */
function upTo(
  end: Interval['end'],
  known: Interval['end'],
  parts: readonly AccountInterval[],
): readonly AccountInterval[] {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return [{ ...only, end }];
  return known < end ? [...parts, { start: known, end, rows: 0 }] : parts;
}

function halves({ start, end }: Interval): Interval[] {
  const middle = micros(start + Math.floor((end - start) / 2));
  return [
    { start, end: middle },
    { start: middle, end },
  ];
}
