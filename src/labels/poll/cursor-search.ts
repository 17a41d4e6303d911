import type { Micros } from '../../contract/timestamp.ts';
import { hour, minute } from '../../store/time.ts';

/**
 * ResolutionStatus an instant in a poll reader's cursor space. A cursor is an id and a page holds the rows above it; ids carry no
 * time, so that several sampled pages must agree that ids rise with the authored time before a position is believed.
 */

/** A page as the search sees it. */
export interface SampledPage {
  /** Authored times of its labels in their order; null for an undated one. */
  readonly authored: readonly (Micros | null)[];
  /** The cursor that it gave, if it was decimal; null when it gave none or something else. */
  readonly cursor: number | null;
}

/** Result of the search. */
export type CursorSearch =
  /** Reading from here misses nothing authored since the target. */
  { readonly kind: 'found'; readonly cursor: number } | { readonly kind: 'unverified'; readonly why: string };

/** Margin below the target for the position: labels of one moment are not stored in the order of their creation. */
export const searchMargin = hour;
/** Disorder within and between pages that is forgiven. */
const slack = 10 * minute;
const maxProbes = 80;
/** The search ends this near, in ids: about one page. */
const precision = 100;

/** Searches for the last cursor whose rows above include all that was authored since `target`. */
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
  const wanted = target - searchMargin;
  /**
   * Returns true if the rows just above the cursor are younger than the target: the position is then at the cursor or
   * below.
   */
  const beyond = async (cursor: number): Promise<boolean> => {
    const at = startOf(await sample(cursor));
    return at === null || at >= wanted;
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
    if (samples.size >= maxProbes) return { kind: 'unverified', why: 'too many probes' };
  }
  const fault = disorder([...samples].sort(([a], [b]) => a - b));
  return fault === null ? { kind: 'found', cursor: low } : { kind: 'unverified', why: fault };
}

/** Why the sampled pages, sorted by cursor, do not prove that ids rise with time; null when they do. */
export function disorder(samples: readonly (readonly [number, SampledPage])[]): string | null {
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
  let falls = 0;
  for (const [i, at] of dated.entries()) {
    if (i > 0 && at < (dated[i - 1] ?? at) - slack) falls += 1;
  }
  return falls > 2 + dated.length / 10;
}

/** Time at which a page begins: the median of its first labels, which one wrong date does not move. */
function startOf({ authored }: SampledPage): Micros | null {
  const first = authored.filter((at) => at !== null).slice(0, 9);
  return first.sort((a, b) => a - b)[Math.floor(first.length / 2)] ?? null;
}
