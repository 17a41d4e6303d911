import type { Micros } from '../contract/timestamp.ts';
import { fillTarget, type ReaderTools, type Source, unreadSince } from './source.ts';

/** The unread part of a source when a catch-up begins. */
export interface Unread {
  /** From when on it was not known to be complete. */
  readonly since: Micros;
  /** Labels authored before this time are refused as late or older than our epoch. */
  readonly target: Micros;
}

/** Returns the part of a source that is unread now. */
export function unread(source: Source, { epoch, clock }: ReaderTools): Unread {
  return { since: unreadSince(source, epoch), target: fillTarget(epoch, clock()) };
}

/**
 * Reading what a source has begins: what is too old to be taken by now is missed, whatever becomes of the reading. Recorded
 * before the first row is accepted, for nobody knows afterwards that it was missed, should we stop meanwhile.
 */
export async function beginsToRead({ did, tracker }: Source, tools: ReaderTools, before: Unread): Promise<void> {
  // An outage records its own gap, with its own reason.
  const outage = tracker.behind || (tracker.delayed && tracker.tracked.lastAnswered !== null);
  if (outage || before.since >= before.target) return;
  await tools.recordGap({ source: did, start: before.since, end: before.target, reason: 'not_observed' });
  tracker.completeTo(before.target);
}

/**
 * Everything that a source had was read to its end, from where it was read before. What was thought missed during an
 * outage came after all, but for what was too old by now; a source that was found late, or that we did not read for days,
 * has what lies before as its gap. `before`: as it was when that reading began. `readAt`: when the last of it came, which
 * is when it was judged to be too old or not; to know that it was the last may take long.
 */
export async function caughtUp(
  { did, tracker }: Source,
  tools: ReaderTools,
  before: Unread,
  readAt = tracker.readAt,
): Promise<void> {
  const now = tools.clock();
  const reached = fillTarget(tools.epoch, readAt ?? now);
  const filled = tracker.caughtUp(reached, now);
  if (filled) await tools.withdrawGap(filled);
  // An outage has already recorded its own gap. Labels that aged during the read are included in the gap of too old labels.
  else if (before.since < before.target) {
    await tools.recordGap({ source: did, start: before.since, end: reached, reason: 'not_observed' });
  }
}
