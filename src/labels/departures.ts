import type { Micros } from '../contract/timestamp.ts';
import type { StoredGap } from '../store/port.ts';
import type { Member } from './member.ts';

/** How a labeler that was read once stands to being read now. */
export type Presence = 'read' | 'waiting' | 'gone';

/**
 * The gap of a labeler that has left: since it was last read to its end, nothing is known of what it gives. Null while it
 * is read, and where it was never read.
 */
export function departureGap({ did, tracker }: Member, presence: Presence, now: Micros): StoredGap | null {
  const { lastAnswered } = tracker.tracked;
  const start = tracker.unreadSince ?? lastAnswered;
  if (lastAnswered === null || start === null || start >= now) return null;
  // It was our own bound that ended it.
  if (presence === 'waiting') return { source: did, start, end: now, reason: 'ingest_paused' };
  if (presence === 'gone' || !tracker.enrolled(now))
    return { source: did, start, end: now, reason: 'source_unavailable' };
  return null;
}
