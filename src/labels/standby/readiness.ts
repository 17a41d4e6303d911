import type { Micros } from '../../contract/timestamp.ts';
import { second } from '../../store/time.ts';
import type { ReadingState } from '../state/reading-state.ts';

/** Time in microseconds after which a source that responds counts as read, even if its pages never end. */
const steadyAfter = 5 * second;

/**
 * Returns true if a source counts as read by a standby: all its earlier labels have been read once, or the source has
 * responded at least 5 seconds after `observedSince` and no outage is being filled in. The second rule exists because
 * some sources emit labels faster than they serve pages, so that their pages never end.
 */
export function isRead(
  { whole, outageSince, tracked }: Pick<ReadingState, 'whole' | 'outageSince' | 'tracked'>,
  observedSince: Micros,
): boolean {
  if (whole) return true;
  return outageSince === null && (tracked.lastAnswered ?? 0) >= observedSince + steadyAfter;
}
