import type { Micros } from '../../contract/timestamp.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import type { ReadingEvent } from '../state/reading-events.ts';

/** Presence of a labeler that was read before. */
export type Presence = 'read' | 'waiting' | 'gone';

/**
 * The absence of a labeler, as an event of its reading: nothing is known of what it gives since it was last read to its
 * end. Null while it is read, and while its document is not known.
 */
export function absenceOf(
  { resolutionStatus, denied, tracker }: KnownLabeler,
  presence: Presence,
  now: Micros,
): Extract<ReadingEvent, { kind: 'displaced' | 'left' }> | null {
  // A denial records its own gap, from its moment on. After a crash the document may have to be read again before the labeler counts as gone.
  if (denied || resolutionStatus === 'unresolved') return null;
  if (presence === 'waiting') return { kind: 'displaced', now };
  return presence === 'gone' || !tracker.enrolled(now) ? { kind: 'left', now } : null;
}

/** Records the gaps of all that have left. */
export async function recordDepartures(
  labelers: Iterable<KnownLabeler>,
  presence: (labeler: KnownLabeler) => Presence,
  { time, gaps }: Pick<ReaderPorts, 'time' | 'gaps'>,
): Promise<void> {
  for (const labeler of labelers) {
    const absence = absenceOf(labeler, presence(labeler), time.clock());
    if (absence) await note(labeler.tracker, gaps, absence);
  }
}
