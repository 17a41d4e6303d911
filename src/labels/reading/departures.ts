import type { Micros } from '../../contract/timestamp.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import type { Member } from '../roster/member.ts';
import type { ReadingEvent } from '../state/reading-events.ts';

/** Presence of a labeler that was read before. */
export type Presence = 'read' | 'waiting' | 'gone';

/**
 * The absence of a labeler, as an event of its reading: nothing is known of what it gives since it was last read to its
 * end. Null while it is read, and while its document is not known.
 */
export function absenceOf(
  { finding, denied, tracker }: Member,
  presence: Presence,
  now: Micros,
): Extract<ReadingEvent, { kind: 'displaced' | 'left' }> | null {
  // A denial records its own gap, from its moment on. After a crash the document may have to be read again before the labeler counts as gone.
  if (denied || finding === 'unresolved') return null;
  if (presence === 'waiting') return { kind: 'displaced', now };
  return presence === 'gone' || !tracker.enrolled(now) ? { kind: 'left', now } : null;
}

/** Records the gaps of all that have left. */
export async function recordDepartures(
  members: Iterable<Member>,
  presence: (member: Member) => Presence,
  { time, gaps }: Pick<ReaderPorts, 'time' | 'gaps'>,
): Promise<void> {
  for (const member of members) {
    const absence = absenceOf(member, presence(member), time.clock());
    if (absence) await note(member.tracker, gaps, absence);
  }
}
