import type { Micros } from '../../contract/timestamp.ts';
import { hour, minute } from '../../store/time.ts';

/**
 * Search for the rows authored since a target time, in the cursor space of `queryLabels`. A cursor is a row id, and a
 * page contains the rows after that id. Ids contain no time, so the search returns a cursor only if sampled pages show
 * that ids increase with the authored time.
 */

/** A sampled page, reduced to the parts that the search uses. */
export interface SampledPage {
  /**
   * Authored times of the labels; null for an undated label. The order is that of the page and need not be
   * chronological.
   */
  readonly authored: readonly (Micros | null)[];
  /** The page's cursor, or null if the cursor is missing or not decimal. */
  readonly cursor: number | null;
}

/** Result of the search. */
type CursorSearch =
  /** Cursor that the search found: all rows authored since the target are after this cursor. */
  { readonly kind: 'found'; readonly cursor: number } | { readonly kind: 'unverified'; readonly why: string };

/**
 * Margin before the target, in microseconds, because labelers do not store labels exactly in the order of their
 * authored times.
 */
const searchMargin = hour;
/** Maximum decrease of authored times within and between pages that does not count as disorder, in microseconds. */
const slack = 10 * minute;
const maxProbes = 80;
/** Precision at which the search ends, in ids: about one page. */
const precision = 100;

/**
 * Searches for a cursor that precedes all rows authored since `target`, as closely as the margin and the precision
 * permit. Returns `unverified` if the samples show no order, or if the search needs too many samples.
 */
export async function searchCursor(
  target: Micros,
  read: (cursor: number) => Promise<SampledPage>,
): Promise<CursorSearch> {
  const samples = new Map<number, SampledPage>();
  const sample = async (cursor: number): Promise<SampledPage> => {
    const page = samples.get(cursor) ?? (await read(cursor));
    samples.set(cursor, page);
    return page;
  };
  const earliest = target - searchMargin;
  /**
   * Returns true if no higher cursor needs to be searched: the page after the cursor has no dated row, or begins at
   * most the margin before the target.
   */
  const beyond = async (cursor: number): Promise<boolean> => {
    const at = startOf(await sample(cursor));
    return at === null || at >= earliest;
  };

  let low = 0;
  if (!(await beyond(0))) {
    let high = Math.max(1, samples.get(0)?.cursor ?? 1);
    while (samples.size < maxProbes && !(await beyond(high))) {
      low = high;
      high *= 2;
    }
    while (samples.size < maxProbes && high - low > precision) {
      const middle = Math.floor((low + high) / 2);
      if (await beyond(middle)) high = middle;
      else low = middle;
    }
    if (samples.size >= maxProbes)
      return { kind: 'unverified', why: 'the search exceeds the maximum number of probes' };
  }
  const defect = disorder([...samples].sort(([a], [b]) => a - b));
  return defect === null ? { kind: 'found', cursor: low } : { kind: 'unverified', why: defect };
}

/**
 * Returns the reason why sampled pages, sorted by cursor, do not show that ids increase with time, or null if they do.
 */
function disorder(samples: readonly (readonly [number, SampledPage])[]): string | null {
  let before = Number.NEGATIVE_INFINITY;
  for (const [cursor, page] of samples) {
    if (page.authored.length > 0) {
      if (page.cursor === null) return 'not a decimal cursor';
      if (page.cursor <= cursor) return 'a cursor that does not advance';
    }
    if (isShuffled(page.authored)) return 'a page out of order';
    const start = startOf(page);
    if (start === null) continue;
    if (start < before - slack) return 'pages out of order';
    before = Math.max(before, start);
  }
  return null;
}

/**
 * Returns true if authored times decrease repeatedly within a page. Single labels with a wrong date (years ago, next
 * year) are common; each causes one decrease.
 */
export function isShuffled(authored: readonly (Micros | null)[]): boolean {
  const dated = authored.filter((at) => at !== null);
  let decreases = 0;
  for (const [i, at] of dated.entries()) {
    if (i > 0 && at < (dated[i - 1] ?? at) - slack) decreases += 1;
  }
  return decreases > 2 + dated.length / 10;
}

/**
 * Returns the time at which a page begins: the median of the times of its first labels, which a single wrong date
 * hardly changes. Returns null if no label has a date.
 */
function startOf({ authored }: SampledPage): Micros | null {
  const first = authored.filter((at) => at !== null).slice(0, 9);
  return first.sort((a, b) => a - b)[Math.floor(first.length / 2)] ?? null;
}
