import { fillTarget, note, type ReaderPorts, unreadSince } from '../ingest/ports.ts';
import type { Unread } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';

/** Returns the part of a source that is unread now. */
export function unread(source: Source, { time }: Pick<ReaderPorts, 'time'>): Unread {
  return { since: unreadSince(source, time.epoch), target: fillTarget(time.epoch, time.clock()) };
}

/**
 * Reading what a source has begins: what is too old to be taken by now is missed, whatever becomes of the reading. Recorded
 * before the first row is accepted, for nobody knows afterwards that it was missed, should we stop meanwhile.
 */
export async function recordReadingStart(
  source: Source,
  { gaps }: Pick<ReaderPorts, 'gaps'>,
  before: Unread,
): Promise<void> {
  await note(source, gaps, { kind: 'reading_began', before });
}

/**
 * Everything that a source had was read to its end, from where it was read before. What was thought missed during an
 * outage came after all, but for what was too old by now; a source that was found late, or that we did not read for days,
 * has what lies before as its gap. `before`: as it was when that reading began. `readAt`: when the last of it came, which
 * is when it was judged to be too old or not; to know that it was the last may take long.
 */
export async function recordCaughtUp(
  source: Source,
  ports: Pick<ReaderPorts, 'gaps' | 'time'>,
  before: Unread,
  readAt = source.tracker.readAt,
): Promise<void> {
  const now = ports.time.clock();
  const reached = fillTarget(ports.time.epoch, readAt ?? now);
  await note(source, ports.gaps, { kind: 'caught_up', now, reached, before });
}
