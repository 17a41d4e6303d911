import type { Micros } from '../contract/timestamp.ts';
import { fillTarget, type ReaderTools, type Source } from './source.ts';

/**
 * Everything that a source had was read to its end, from where it was read before. What was thought missed during an
 * outage came after all, but for what was too old by now; a source that was found late, or that we did not read for days,
 * has what lies before as its gap. `since`: from when on it was not known to be complete.
 */
export async function caughtUp({ did, tracker }: Source, tools: ReaderTools, since: Micros): Promise<void> {
  const now = tools.clock();
  const reached = fillTarget(tools.epoch, now);
  const filled = tracker.caughtUp(reached, now);
  if (filled) await tools.withdrawGap(filled);
  // An outage said so already, under its own reason.
  else if (since < reached) {
    await tools.recordGap({ source: did, start: since, end: reached, reason: 'not_observed' });
  }
}
