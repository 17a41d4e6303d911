import type { Micros } from '../../contract/timestamp.ts';
import { second } from '../../store/time.ts';
import type { ReadingState } from '../state/reading-state.ts';

/** Time for which a source whose pages never end must have responded before it counts as read, in microseconds. */
const steadyAfter = 5 * second;

/**
 * Returns true if a source counts as read by a standby: all its earlier labels have been read once, or the source has
 * responded for a few seconds and no outage is being filled in. The second rule exists because the pages of a source
 * that emits faster than it responds never end.
 */
export function isRead(
  { whole, outageSince, tracked }: Pick<ReadingState, 'whole' | 'outageSince' | 'tracked'>,
  observedSince: Micros,
): boolean {
  if (whole) return true;
  return outageSince === null && (tracked.lastAnswered ?? 0) >= observedSince + steadyAfter;
}
