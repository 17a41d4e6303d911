import { fillTarget, note, type ReaderPorts, unreadSince } from '../ingest/ports.ts';
import type { Unread } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';

/** Returns the part of a source's labels that is currently unread. */
export function unread(source: Source, { time }: Pick<ReaderPorts, 'time'>): Unread {
  return { since: unreadSince(source, time.epoch), target: fillTarget(time.epoch, time.clock()) };
}

/**
 * Records that reading of a source's labels begins: if the oldest unread labels are already too old to be accepted,
 * their time is a gap. Must be called before the first row is accepted, so that the gap is not lost if the process
 * stops while it reads.
 */
export async function recordReadingStart(
  source: Source,
  { gaps }: Pick<ReaderPorts, 'gaps'>,
  before: Unread,
): Promise<void> {
  await note(source, gaps, { kind: 'reading_began', before });
}

/**
 * Records that a source was read to its end. Withdraws the gap of an outage, except for the time whose labels were too
 * old. That time remains a gap for a source that was discovered late or not read for days. `before` is the unread part
 * when the reading began. `readAt` is the time at which the last missed label was read; it determines which labels were
 * too old.
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
