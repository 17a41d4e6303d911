import type { Micros } from '../../contract/timestamp.ts';
import { type TargetKind, targetKinds } from '../../contract/vocabulary.ts';
import type { AccountDay, AccountTally } from '../../store/counts.ts';
import { targetOf } from '../../store/label.ts';
import type { AccountQuery, Observation } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { RowStore } from '../query/account-store.ts';
import { type AccountFilters, storeFilter } from '../query/query.ts';

/**
 * Maximum number of rows that a page shows in full. If an account has more rows, the page shows only the newest rows
 * of each part.
 */
export const wholeRows = 100;
/** Maximum number of rows per part on a page that shows only the newest rows. */
const newestRows = 25;
/** Maximum number of rows on a page that shows a single part. */
const partRows = 100;
/** Maximum number of rows to read per part when searching for rows that match the filters. */
const passedRows = 20_000;

/** Part of a page: observations on the account itself, on its posts, or on its other records. */
export interface Part {
  readonly target: TargetKind;
  /** Number of all rows of the part in the interval, or null if some rows were not counted. */
  readonly total: number | null;
  /** The newest rows, or the rows before the requested position; newest first. */
  readonly rows: readonly Observation[];
  /** Position at which the list continues, or null if no rows follow. */
  readonly next: Micros | null;
}

/** Query for the rows of a page. */
interface PartsQuery extends Interval {
  readonly account: string;
  readonly filters: AccountFilters;
  /** Acceptance time before which rows are listed, or null to list the newest rows. */
  readonly before: Micros | null;
}

/** Reads the parts of a page: all three, or only the part that the query selects. */
export async function readParts(store: RowStore, query: PartsQuery, tally: AccountTally): Promise<Part[]> {
  const { target_kind: only } = query.filters;
  const kinds = only === undefined ? targetKinds : [only];
  const all = kinds.map((kind) => totalOf(tally.days, kind)).reduce(plus, 0);
  const holding = tally.days.filter((day) => targetKinds.some((kind) => mayHold(day, kind)));
  if (only === undefined && all !== null && all <= wholeRows && rowsIn(holding) <= passedRows) {
    return readWhole(store, query, tally.days, holding);
  }
  const limit = only !== undefined ? partRows : all !== null && all <= wholeRows ? wholeRows : newestRows;
  return Promise.all(kinds.map((kind) => readPart(store, query, tally.days, kind, limit)));
}

/** Reads all three parts at once, for a page that shows every row. */
async function readWhole(
  store: RowStore,
  { account, filters, start, end }: PartsQuery,
  days: readonly AccountDay[],
  holding: readonly AccountDay[],
): Promise<Part[]> {
  const rows: Observation[] = [];
  for (const stretch of stretchesOf(holding)) {
    const clipped = { start: micros(Math.max(start, stretch.start)), end: micros(Math.min(end, stretch.end)) };
    const asked = { account, ...clipped, order: 'newest', after: null, filter: storeFilter(filters) } as const;
    rows.push(...(await store.readAccount({ ...asked, limit: wholeRows })).rows);
  }
  const byTarget = Map.groupBy(rows, ({ label }) => targetOf(label.uri));
  return targetKinds.map((target) => ({
    target,
    total: totalOf(days, target),
    rows: byTarget.get(target) ?? [],
    next: null,
  }));
}

/** Merges consecutive days into intervals, newest first. Days that are not in the list are not read. */
function stretchesOf(days: readonly AccountDay[]): Interval[] {
  const found: Interval[] = [];
  for (const { start, end } of days) {
    const last = found.at(-1);
    if (last?.end === start) found[found.length - 1] = { start: last.start, end };
    else found.push({ start, end });
  }
  return found.toReversed();
}

async function readPart(
  store: RowStore,
  { account, filters, start, end, before }: PartsQuery,
  days: readonly AccountDay[],
  target: TargetKind,
  limit: number,
): Promise<Part> {
  const total = totalOf(days, target);
  const filter = { ...storeFilter(filters), target };
  const rows: Observation[] = [];
  const asked = { account, order: 'newest', after: before, filter } as const;
  const seek = (part: Interval, most: number) =>
    store.readAccount({
      ...asked,
      start: part.start,
      end: micros(Math.min(part.end, end)),
      limit: most,
    } satisfies AccountQuery);
  const wanted = days
    .filter((day) => day.end > start && day.start < (before ?? end) && mayHold(day, target))
    .toReversed();
  const [newest, oldest] = [wanted[0], wanted.at(-1)];
  if (!newest || !oldest) return { target, total, rows, next: null };
  const span = days.filter((day) => day.start >= oldest.start && day.end <= newest.end);
  if (span.every(({ counts }) => counts !== null) && rowsIn(span) <= passedRows / 4) {
    const chunk = await seek({ start: oldest.start, end: newest.end }, limit);
    return { target, total, rows: chunk.rows, next: chunk.next };
  }
  // Read day by day, and skip days without matching rows.
  let passed = 0;
  for (const day of wanted) {
    if (passed >= passedRows) return { target, total, rows, next: micros(day.end) };
    const chunk = await seek(day, limit - rows.length);
    rows.push(...chunk.rows);
    passed += day.counts?.rows ?? passedRows;
    const more = chunk.next !== null || day !== wanted.at(-1);
    if (rows.length === limit) return { target, total, rows, next: more ? (rows.at(-1)?.observedAt ?? null) : null };
  }
  return { target, total, rows, next: null };
}

function mayHold({ counts }: AccountDay, target: TargetKind): boolean {
  return counts === null || counts[target].applied + counts[target].removed > 0;
}

function rowsIn(days: readonly AccountDay[]): number {
  return days.reduce((sum, { counts }) => sum + (counts?.rows ?? 0), 0);
}

/** Returns the number of rows with the given target kind, or null if a day was not counted. */
function totalOf(days: readonly AccountDay[], target: TargetKind): number | null {
  return days.reduce<number | null>(
    (sum, { counts }) => plus(sum, counts && counts[target].applied + counts[target].removed),
    0,
  );
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
