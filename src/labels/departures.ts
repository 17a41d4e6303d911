import type { Micros } from '../contract/timestamp.ts';
import type { StoredGap } from '../store/port.ts';
import type { Member } from './member.ts';
import type { ReaderTools } from './source.ts';

/** Presence of a labeler that was read before. */
export type Presence = 'read' | 'waiting' | 'gone';

/**
 * The gap of a labeler that has left: since it was last read to its end, nothing is known of what it gives. Null while it
 * is read, while its document is not known, and where it was never read.
 */
export function absenceGap(
  { did, finding, denied, tracker }: Member,
  presence: Presence,
  now: Micros,
): StoredGap | null {
  // A denial records its own gap, from its moment on. After a crash the document may have to be read again before the labeler counts as gone.
  if (denied || finding === 'unresolved') return null;
  const { lastAnswered } = tracker.tracked;
  const start = tracker.unreadSince ?? lastAnswered;
  if (lastAnswered === null || start === null || start >= now) return null;
  // It was our own bound that ended it.
  if (presence === 'waiting') return { source: did, start, end: now, reason: 'ingest_paused' };
  if (presence === 'gone' || !tracker.enrolled(now))
    return { source: did, start, end: now, reason: 'source_unavailable' };
  return null;
}

/** Records the gaps of all that have left. */
export async function recordDepartures(
  members: Iterable<Member>,
  presence: (member: Member) => Presence,
  { clock, recordGap }: Pick<ReaderTools, 'clock' | 'recordGap'>,
): Promise<void> {
  for (const member of members) {
    const gap = absenceGap(member, presence(member), clock());
    if (gap) await recordGap(gap);
  }
}
