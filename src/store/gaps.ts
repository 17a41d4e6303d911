import type { GapChange, StoredGap } from './port.ts';
import { type Interval, micros } from './time.ts';

/** Maximum number of gaps stored per source. */
const maxGapsPerSource = 512;

/**
 * Adds a gap to the gaps of one source and merges overlapping and touching gaps with the same reason. If more than
 * `limit` gaps remain, repeatedly merges the two closest gaps into one `unknown` gap. The result may overstate the
 * missed time, but never understates it.
 */
export function addGap(gaps: readonly StoredGap[], gap: StoredGap, limit = maxGapsPerSource): StoredGap[] {
  let merged = coalesce([...gaps, gap]);
  while (merged.length > limit) merged = coalesce(joinNearest(merged));
  return merged;
}

/**
 * Returns the gaps of one source after a change. If the source has more gaps than the change permits, their number does
 * not increase.
 */
export function changedGaps(gaps: readonly StoredGap[], { kind, gap, maxGaps }: GapChange): StoredGap[] {
  if (kind === 'withdraw') return withoutGap(gaps, gap);
  const limit = Math.max(maxGaps ?? maxGapsPerSource, gaps.length);
  return addGap(gaps, gap, Math.min(limit, maxGapsPerSource));
}

/**
 * Removes the interval of `cut` from the gaps of one source that have the same reason. Keeps `unknown` gaps, which
 * earlier merges created.
 */
export function withoutGap(gaps: readonly StoredGap[], cut: StoredGap): StoredGap[] {
  return gaps.flatMap((gap) => {
    if (gap.reason !== cut.reason || gap.end <= cut.start || gap.start >= cut.end) return [gap];
    return [
      { ...gap, end: micros(Math.min(gap.end, cut.start)) },
      { ...gap, start: micros(Math.max(gap.start, cut.end)) },
    ].filter(({ start, end }) => start < end);
  });
}

/** Returns the gaps sorted by start, with overlapping and touching gaps of the same source and reason merged. */
export function coalesce(gaps: readonly StoredGap[]): StoredGap[] {
  const open = new Map<string, number>();
  const result: StoredGap[] = [];
  for (const gap of sorted(gaps)) {
    const key = `${gap.source} ${gap.reason}`;
    const at = open.get(key);
    const last = at === undefined ? undefined : result[at];
    if (at !== undefined && last && gap.start <= last.end) {
      result[at] = { ...last, end: micros(Math.max(last.end, gap.end)) };
    } else {
      open.set(key, result.length);
      result.push(gap);
    }
  }
  return result;
}

/** Returns the parts of the gaps that are within the interval. */
export function clip(gaps: readonly StoredGap[], { start, end }: Interval): StoredGap[] {
  return gaps
    .filter((gap) => gap.start < end && gap.end > start)
    .map((gap) => {
      // Most gaps lie in the interval, and copies of hundreds of thousands of them are garbage to collect.
      if (gap.start >= start && gap.end <= end) return gap;
      return { ...gap, start: micros(Math.max(gap.start, start)), end: micros(Math.min(gap.end, end)) };
    });
}

/** Returns the total time in microseconds that is in at least one gap. */
export function gappedTime(gaps: readonly StoredGap[]): number {
  let total = 0;
  let through = Number.NEGATIVE_INFINITY;
  for (const gap of sorted(gaps)) {
    total += Math.max(0, gap.end - Math.max(gap.start, through));
    through = Math.max(through, gap.end);
  }
  return total;
}

/**
 * Compares gaps by start, then by end, reason and source. If gaps differ only in the source, gaps of the whole
 * instrument sort first.
 */
export function compareGaps(a: StoredGap, b: StoredGap): number {
  return a.start - b.start || a.end - b.end || compare(a.reason, b.reason) || compare(a.source ?? '', b.source ?? '');
}

function sorted(gaps: readonly StoredGap[]): StoredGap[] {
  return [...gaps].sort(compareGaps);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function joinNearest(gaps: readonly StoredGap[]): StoredGap[] {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i + 1 < gaps.length; i++) {
    const [a, b] = [gaps[i], gaps[i + 1]];
    if (a && b && b.start - a.end < least) {
      least = b.start - a.end;
      nearest = i;
    }
  }
  const [a, b] = [gaps[nearest], gaps[nearest + 1]];
  if (!a || !b) return [...gaps];
  const joined: StoredGap = {
    source: a.source,
    reason: 'unknown',
    start: a.start,
    end: micros(Math.max(a.end, b.end)),
  };
  return [...gaps.slice(0, nearest), joined, ...gaps.slice(nearest + 2)];
}
