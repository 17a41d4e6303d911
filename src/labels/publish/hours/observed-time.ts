import type { Interval } from '../../../store/time.ts';
import { merged } from '../labelers/unread-time.ts';

/**
 * Returns the observed time of each part in whole milliseconds: the length of the part minus the unread intervals.
 * Rounds down, so that a part with an unread interval never counts as completely observed. Returns at least 1 for a
 * part with any observed time.
 */
export function observedMs(parts: readonly Interval[], unread: readonly Interval[]): number[] {
  const gaps = merged(unread);
  let first = 0;
  return parts.map(({ start, end }) => {
    while ((gaps[first]?.end ?? Number.POSITIVE_INFINITY) <= start) first += 1;
    let observed = Math.max(0, end - start);
    for (let i = first; i < gaps.length; i += 1) {
      const gap = gaps[i];
      if (gap === undefined || gap.start >= end) break;
      observed -= Math.min(gap.end, end) - Math.max(gap.start, start);
    }
    return observed <= 0 ? 0 : Math.max(1, Math.floor(observed / 1000));
  });
}
