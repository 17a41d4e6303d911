import type { Micros } from '../../contract/timestamp.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import type { ReadingEvent } from '../state/reading-events.ts';

/** Presence of a labeler that was read before: the labeler is read, waits for a reading slot, or neither. */
export type Presence = 'read' | 'waiting' | 'gone';

/**
 * Returns the event for an absent labeler: its labels since it was last read to the end are unknown. Returns null while
 * the labeler is read and enrolled, while it is denied, and while its document is not known.
 */
export function absenceOf(
  { resolutionStatus, denied, tracker }: KnownLabeler,
  presence: Presence,
  now: Micros,
): Extract<ReadingEvent, { kind: 'displaced' | 'left' }> | null {
  // A denial records a separate gap. After a crash, a labeler counts as gone only after its document was read again.
  if (denied || resolutionStatus === 'unresolved') return null;
  if (presence === 'waiting') return { kind: 'displaced', now };
  return presence === 'gone' || !tracker.enrolled(now) ? { kind: 'left', now } : null;
}

/** Records the gaps of all labelers that are absent. */
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
