import type { Micros } from '../../contract/timestamp.ts';
import { stoppable } from '../clock/clock.ts';
import { fillTarget, note, type ReaderPorts } from '../ingest/ports.ts';
import type { Unread } from '../state/reading-events.ts';
import { stateTimes } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';

/** Returns the part of a source's labels that is currently unread. */
export function unread(source: Source, { time }: Pick<ReaderPorts, 'time'>): Unread {
  return { since: unreadSince(source, time.epoch), target: fillTarget(time.epoch, time.clock()) };
}

/**
 * Records that the reading of a source's labels begins. If the oldest unread labels are already too old to be
 * accepted, their time is recorded as a gap, except during an outage, which has a separate gap. Must be called before
 * the first row is accepted, so that the gap is not lost if the process stops during the reading.
 */
export async function recordReadingStart(
  source: Source,
  { gaps }: Pick<ReaderPorts, 'gaps'>,
  before: Unread,
): Promise<void> {
  await note(source, gaps, { kind: 'reading_began', before });
}

/**
 * Records that a source was read to its end. After an outage, withdraws the part of the outage's gap that begins at
 * the oldest label that could still be accepted. Otherwise, records a gap for labels that were already too old when
 * reading began, as for a source that was discovered late. `before` is the unread part when the reading began.
 * `readAt` is the time at which the last missed label was read, or null for the current time. This time determines
 * which labels were too old. `through` is the time at which the last page was requested: the source may already have lost
 * labels of the time after it.
 */
export async function recordCaughtUp(
  source: Source,
  ports: Pick<ReaderPorts, 'gaps' | 'time'>,
  { before, through }: { readonly before: Unread; readonly through: Micros },
  readAt = source.tracker.readAt,
): Promise<void> {
  const now = ports.time.clock();
  if (source.progress.former !== null) {
    // The endpoint to which the labeler moved has no pages that could show the last row of the former endpoint.
    await note(source, ports.gaps, { kind: 'reset', now, epoch: ports.time.epoch, live: false });
    source.apply({ kind: 'former_checked' });
  }
  const reached = fillTarget(ports.time.epoch, readAt ?? now);
  await note(source, ports.gaps, { kind: 'caught_up', now, through, reached, before });
}

/**
 * Returns the start of the time for which a source may be incomplete; this is the epoch if the source was never
 * complete.
 */
function unreadSince(source: Source, epoch: Micros): Micros {
  return source.tracker.unreadSince ?? epoch;
}

/**
 * Waits until a source may be read or the signal aborts.
 *
 * A short wait is only a delay; a wait that exceeds the delay limit is recorded as a growing gap.
 */
export async function untilReadable(
  source: Source,
  ports: Pick<ReaderPorts, 'pace' | 'gaps' | 'time'>,
  signal: AbortSignal,
): Promise<void> {
  const { pace, time } = ports;
  const waiting = pace.ready(source.did, signal);
  if (waiting === null) return;
  const unready = stoppable(signal);
  const done = waiting.finally(unready.abort);
  while (!unready.signal.aborted) {
    await Promise.race([done, time.wait(stateTimes.delayLimit / 1_000, unready.signal)]);
    if (unready.signal.aborted) break;
    await note(source, ports.gaps, { kind: 'throttled', now: time.clock(), epoch: time.epoch });
  }
  await done;
}
