import type { Micros } from '../../contract/timestamp.ts';
import { stoppable } from '../clock/clock.ts';
import { admissionLimits } from '../ingest/admission.ts';
import { note, type ReaderPorts } from '../ingest/ports.ts';
import type { Unread } from '../state/reading-events.ts';
import { stateTimes } from '../state/reading-state.ts';
import type { Source } from '../state/source.ts';

/** Returns the part of a source's labels that is currently unread: all of them if the source was never complete. */
export function unread({ tracker }: Source, { time }: Pick<ReaderPorts, 'time'>): Unread {
  return { since: tracker.unreadSince ?? time.epoch, target: fillTarget(time.epoch, time.clock()) };
}

/**
 * Returns the start of the time that is filled in for a new source: the epoch, or the oldest time that is not refused
 * as late, whichever is later.
 */
export function fillTarget(epoch: Micros, now: Micros): Micros {
  return Math.max(epoch, now - admissionLimits.maxLateness) as Micros;
}

/**
 * Returns true if, by its date, a label was authored after a stream opened at `opened`. A date in the future shows that
 * the labeler's clock is ahead, by up to 300 s. Such a date must be at least 300 s after the opening; otherwise, the
 * label may be older than the stream.
 */
export function isAfterOpening(authored: Micros | null, opened: Micros, now: Micros): boolean {
  if (authored === null || authored < opened) return false;
  const { maxAhead } = admissionLimits;
  // A label with a later date is refused, and thus proves nothing.
  return authored <= now || (authored >= opened + maxAhead && authored <= now + maxAhead);
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
    await recordReset(source, ports, false);
    source.apply({ kind: 'former_checked' });
  }
  const reached = fillTarget(ports.time.epoch, readAt ?? now);
  await note(source, ports.gaps, { kind: 'caught_up', now, through, reached, before });
}

/**
 * Records a gap for the labels since the source was last complete, because its database was reset. With `live`, later
 * labels arrive on the open stream.
 */
export async function recordReset(
  source: Source,
  { gaps, time }: Pick<ReaderPorts, 'gaps' | 'time'>,
  live: boolean,
): Promise<void> {
  await note(source, gaps, { kind: 'reset', now: time.clock(), epoch: time.epoch, live });
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
