import type { Micros } from '../../contract/timestamp.ts';
import { second } from '../../store/time.ts';
import type { ReadingState } from '../state/reading-state.ts';

/** Time for which a source must have responded to a standby whose pages never end, in microseconds. */
const steadyAfter = 5 * second;

/**
 * Returns true if a standby reads a source: it has read all earlier labels once, or the source has responded for some
 * seconds and no outage is being filled in. The pages of a source that emits faster than it responds never end.
 */
export function isRead(
  { whole, outageSince, tracked }: Pick<ReadingState, 'whole' | 'outageSince' | 'tracked'>,
  observedSince: Micros,
): boolean {
  if (whole) return true;
  return outageSince === null && (tracked.lastAnswered ?? 0) >= observedSince + steadyAfter;
}
